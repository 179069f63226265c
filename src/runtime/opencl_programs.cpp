#include "runtime/opencl_programs.hpp"

#include <starpu.h>
#include <starpu_opencl.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/environment.hpp"
#include "codelets/virial_programs.hpp"
#include "kernels/base/error.hpp"
#include "kernels/opencl/host/device_check.hpp"
#include "kernels/opencl/host/handles.hpp"
#include "runtime/codelet.hpp"
#include "runtime/device_failure.hpp"

namespace starpmc::codelets {
namespace {

using DevicePrograms = std::map<Precision, std::unique_ptr<opencl::DeviceProgram>>;

/// Queues of one device beside StarPU's.
constexpr std::size_t kLanes = 16;
std::map<int, std::vector<opencl::Owned<cl_command_queue>>>& lanes() {
  static std::map<int, std::vector<opencl::Owned<cl_command_queue>>> all;
  return all;
}

void make_lanes(int device, cl_context context, cl_device_id id) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    cl_int error = CL_SUCCESS;
    lanes()[device].emplace_back(clCreateCommandQueue(context, id, 0, &error));
    opencl::check(error, "clCreateCommandQueue");
  }
}

/// By StarPU's number of the device; empty for one that gets no work.
using AllPrograms = std::vector<DevicePrograms>;
/// By potential_hash().
std::map<std::string, AllPrograms>& programs_of_potentials() {
  static std::map<std::string, AllPrograms> all;
  return all;
}
/// Of the potential whose tasks run.
const AllPrograms& programs() {
  static const AllPrograms none;
  const auto found = programs_of_potentials().find(potential_hash());
  return found == programs_of_potentials().end() ? none : found->second;
}

bool same(const PairDerivatives& a, const PairDerivatives& b) {
  const auto equal = [](const PairDerivatives::Function& x, const PairDerivatives::Function& y) {
    return x.program == y.program && x.kinds == y.kinds && x.table == y.table;
  };
  return a.coulomb == b.coulomb && std::ranges::equal(a.mm, b.mm, equal) &&
         std::ranges::equal(a.qmmm, b.qmmm, equal);
}

/// Of one device, used by its worker alone.
struct VirialPrograms {
  struct Built {
    PairDerivatives functions;
    std::unique_ptr<opencl::VirialProgram> program;
  };
  std::filesystem::path sources;
  std::vector<Built> built;
};
std::map<int, VirialPrograms>& virial_programs() {
  static std::map<int, VirialPrograms> all;
  return all;
}

/// What kernels are built for; left out: as the device likes it. With STARPMC_LAUNCH_SHAPE=nvidia
/// CPUs run what NVIDIA's GPUs do, for tests.
std::optional<opencl::LaunchShape> launch_shape(cl_device_id device) {
  cl_device_type type = 0;
  opencl::check(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr),
                "clGetDeviceInfo");
  if ((type & CL_DEVICE_TYPE_CPU) == 0 || environment("STARPMC_LAUNCH_SHAPE") != "nvidia")
    return {};
  return opencl::LaunchShape::for_nvidia_on_cpu();
}

}  // namespace

std::vector<std::string> build_opencl_programs(std::span<const Precision> precisions,
                                               const std::filesystem::path& kernel_sources,
                                               const Potential& potential) {
  std::vector<std::string> warnings;
  AllPrograms& all = programs_of_potentials()[potential_hash()];
  all.clear();
  std::vector<int> workers(starpu_opencl_worker_get_count());
  workers.resize(starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, workers.data(),
                                               static_cast<unsigned>(workers.size())));
  for (const int worker : workers) {
    const int device = starpu_worker_get_devid(worker);
    const auto index = static_cast<std::size_t>(device);
    if (all.size() <= index) all.resize(index + 1);
    if (!all[index].empty()) continue;
    try {
      if (has_failed_earlier(worker)) throw RunError("it has failed before");
      cl_context context = nullptr;
      cl_device_id id = nullptr;
      starpu_opencl_get_context(device, &context);
      starpu_opencl_get_device(device, &id);
      if (context == nullptr || id == nullptr) throw RunError("StarPU does not tell the device");
      for (const Precision precision : precisions) {
        all[index][precision] = std::make_unique<opencl::DeviceProgram>(
            context, id, precision, kernel_sources, launch_shape(id), potential);
      }
      if (lanes()[device].empty()) make_lanes(device, context, id);
      for (const auto& [precision, program] : all[index]) {
        opencl::check_device(*program, lanes()[device].front().get(), potential);
      }
      virial_programs()[device].sources = kernel_sources;
    } catch (const std::exception& error) {
      all[index].clear();
      warnings.push_back("OpenCL device " + worker_name(worker) + " gets no work: " + error.what());
    }
  }
  return warnings;
}

void release_opencl_programs() {
  programs_of_potentials().clear();
  virial_programs().clear();
  lanes().clear();
}

bool has_opencl_program(int device) {
  const auto index = static_cast<std::size_t>(device);
  return index < programs().size() && !programs()[index].empty();
}

bool is_opencl_cpu(int device) {
  return has_opencl_program(device) &&
         programs()[static_cast<std::size_t>(device)].begin()->second->is_cpu();
}

bool has_opencl_gpu() {
  return std::ranges::any_of(programs(), [](const DevicePrograms& device) {
    return !device.empty() && !device.begin()->second->is_cpu();
  });
}

opencl::DeviceProgram* opencl_program(int worker, Precision precision) {
  if (starpu_worker_get_type(worker) != STARPU_OPENCL_WORKER) return nullptr;
  const int device = starpu_worker_get_devid(worker);
  if (!has_opencl_program(device)) return nullptr;
  const auto found = programs()[static_cast<std::size_t>(device)].find(precision);
  return found == programs()[static_cast<std::size_t>(device)].end() ? nullptr
                                                                     : found->second.get();
}

OpenclPlace opencl_place(Precision precision) {
  const int device = starpu_worker_get_devid(starpu_worker_get_id());
  cl_command_queue queue = nullptr;
  starpu_opencl_get_queue(device, &queue);
  return {*programs().at(static_cast<std::size_t>(device)).at(precision), queue};
}

opencl::VirialProgram& virial_program(const PairDerivatives& functions) {
  const int device = starpu_worker_get_devid(starpu_worker_get_id());
  VirialPrograms& programs = virial_programs().at(device);
  for (const auto& [known, program] : programs.built) {
    if (same(known, functions)) return *program;
  }
  cl_context context = nullptr;
  cl_device_id id = nullptr;
  starpu_opencl_get_context(device, &context);
  starpu_opencl_get_device(device, &id);
  programs.built.push_back({functions, std::make_unique<opencl::VirialProgram>(
                                           context, id, functions, programs.sources)});
  return *programs.built.back().program;
}

OpenclLane::OpenclLane(Precision precision, std::uint32_t chain)
    : main_(opencl_place(precision)),
      queue_(lanes().at(starpu_worker_get_devid(starpu_worker_get_id())).at(chain % kLanes).get()) {
}

OpenclLane::~OpenclLane() {
  cl_event done = nullptr;
  cl_int error = clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &done);
  if (error == CL_SUCCESS) error = clFlush(queue_);
  if (error == CL_SUCCESS) error = clEnqueueBarrierWithWaitList(main_.queue, 1, &done, nullptr);
  if (done != nullptr) clReleaseEvent(done);
  if (error != CL_SUCCESS) {
    report_task_failure("OpenCL: joining two queues failed (" +
                        std::string(opencl::error_name(error)) + ")");
  }
}

opencl::Buffer opencl_buffer(void* buffer) {
  return {reinterpret_cast<cl_mem>(STARPU_VECTOR_GET_DEV_HANDLE(buffer)),
          STARPU_VECTOR_GET_OFFSET(buffer),
          std::size_t{STARPU_VECTOR_GET_NX(buffer)} * STARPU_VECTOR_GET_ELEMSIZE(buffer)};
}

}  // namespace starpmc::codelets
