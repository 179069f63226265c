#include "codelets/opencl_programs.hpp"

#include <starpu.h>
#include <starpu_opencl.h>

#include <memory>

#include "error.hpp"

namespace starpmc::codelets {
namespace {

std::vector<std::unique_ptr<opencl::Program>>& programs() {
  static std::vector<std::unique_ptr<opencl::Program>> all;
  return all;
}

}  // namespace

std::vector<std::string> build_opencl_programs(bool single,
                                               const std::filesystem::path& kernel_sources) {
  std::vector<std::string> warnings;
  programs().clear();
  std::vector<int> workers(starpu_opencl_worker_get_count());
  workers.resize(starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, workers.data(),
                                               static_cast<unsigned>(workers.size())));
  for (const int worker : workers) {
    const int device = starpu_worker_get_devid(worker);
    const auto index = static_cast<std::size_t>(device);
    if (programs().size() <= index) programs().resize(index + 1);
    if (programs()[index] != nullptr) continue;
    try {
      cl_context context = nullptr;
      cl_device_id id = nullptr;
      starpu_opencl_get_context(device, &context);
      starpu_opencl_get_device(device, &id);
      if (context == nullptr || id == nullptr) throw RunError("StarPU does not tell the device");
      programs()[index] = std::make_unique<opencl::Program>(context, id, single, kernel_sources);
    } catch (const std::exception& error) {
      char name[128] = "?";
      starpu_worker_get_name(worker, name, sizeof name);
      warnings.push_back(std::string("OpenCL device ") + name + " gets no work: " + error.what());
    }
  }
  return warnings;
}

void release_opencl_programs() { programs().clear(); }

bool has_opencl_program(int device) {
  const auto index = static_cast<std::size_t>(device);
  return index < programs().size() && programs()[index] != nullptr;
}

bool is_opencl_gpu(int device) {
  return has_opencl_program(device) && !programs()[static_cast<std::size_t>(device)]->is_cpu();
}

OpenclPlace opencl_place() {
  const int device = starpu_worker_get_devid(starpu_worker_get_id());
  cl_command_queue queue = nullptr;
  starpu_opencl_get_queue(device, &queue);
  return {*programs().at(static_cast<std::size_t>(device)), queue};
}

opencl::Buffer opencl_buffer(void* buffer) {
  return {reinterpret_cast<cl_mem>(STARPU_VECTOR_GET_DEV_HANDLE(buffer)),
          STARPU_VECTOR_GET_OFFSET(buffer)};
}

}  // namespace starpmc::codelets
