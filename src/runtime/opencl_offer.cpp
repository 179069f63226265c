#include "runtime/opencl_offer.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/environment.hpp"
#include "kernels/opencl/host/handles.hpp"

namespace starpmc {
namespace {

std::string platform_name(cl_platform_id platform) {
  char name[256] = "?";
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
  return name;
}

std::string device_name(cl_device_id device) {
  char name[256] = "?";
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
  return name;
}

std::string failure_to_make(const char* what, cl_int error) {
  return fmt::format("makes no {} ({}, {})", what, opencl::error_name(error), error);
}

/// What StarPU begins with on each device; it ends the program where that fails.
std::string try_to_begin(cl_device_id device) {
  cl_int error = CL_SUCCESS;
  const opencl::Owned<cl_context> context(
      clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  if (error != CL_SUCCESS) return failure_to_make("context", error);
  const opencl::Owned<cl_command_queue> queue(
      clCreateCommandQueue(context.get(), device, 0, &error));
  if (error != CL_SUCCESS) return failure_to_make("queue", error);
  return {};
}

/// NVIDIA's OpenCL does not run under its multi-process service.
std::string why_probably() {
  const char* const folder = "/tmp/nvidia-mps";
  if (!environment("CUDA_MPS_PIPE_DIRECTORY").empty()) {
    return "; an NVIDIA GPU makes none behind an MPS server: unset CUDA_MPS_PIPE_DIRECTORY";
  }
  if (access(folder, F_OK) == 0) {
    return fmt::format(
        "; an NVIDIA GPU makes none behind an MPS server, and there is {}: stop its daemon (echo "
        "quit | nvidia-cuda-mps-control)",
        folder);
  }
  return {};
}

struct Trial {
  std::string failure;  ///< empty: it can be used
  bool wanted = true;
};

/// Each device is tried once: that takes a GPU a moment, and a process may start StarPU often.
Trial tried(cl_device_id device) {
  static std::mutex mutex;
  static std::map<cl_device_id, Trial> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  if (is_on("STARPU_OPENCL_ONLY_ON_CPUS")) return {{}, false};
  // StarPU measures the bus to devices that it is not to use, too.
  const bool wanted = environment("STARPU_NOPENCL") != "0";
  if (!wanted && why_probably().empty()) return {{}, false};
  return known.emplace(device, Trial{try_to_begin(device), wanted}).first->second;
}

/// StarPU tries all that it sees: it must see none of them where one cannot be used.
void leave_out_accelerators(OpenclOffer& offer) {
  const std::string others =
      offer.accelerators.empty()
          ? ""
          : fmt::format(
                "; because of it OpenCL's others get none, either ({}): hide it, as "
                "CUDA_VISIBLE_DEVICES does",
                fmt::join(offer.accelerators, ", "));
  for (std::string& each : offer.refused) each += why_probably() + others;
  offer.accelerators.clear();
  offer.hides_accelerators = true;
}

void add_devices(std::vector<cl_device_id>& found_devices, cl_platform_id platform,
                 cl_device_type type, std::string& trouble) {
  std::array<cl_device_id, 64> devices{};
  cl_uint found = 0;
  const cl_int result =
      clGetDeviceIDs(platform, type, static_cast<cl_uint>(devices.size()), devices.data(), &found);
  if (result != CL_SUCCESS) {
    if (result == CL_DEVICE_NOT_FOUND) return;
    trouble = fmt::format("the OpenCL platform {} does not list its devices ({})",
                          platform_name(platform), opencl::error_name(result));
    return;
  }
  const std::size_t count = std::min<std::size_t>(found, devices.size());
  found_devices.insert(found_devices.end(), devices.begin(), devices.begin() + count);
}

}  // namespace

OpenclOffer opencl_offer() {
  std::array<cl_platform_id, 16> platforms{};
  cl_uint count = 0;
  const cl_int listed =
      clGetPlatformIDs(static_cast<cl_uint>(platforms.size()), platforms.data(), &count);
  if (listed != CL_SUCCESS || count == 0) {
    const std::string folder = environment("OCL_ICD_VENDORS");
    return {false,
            {},
            {},
            fmt::format("OpenCL finds no driver in {}{}",
                        folder.empty() ? "/etc/OpenCL/vendors" : folder,
                        folder.empty() ? "" : " (OCL_ICD_VENDORS)")};
  }
  OpenclOffer offer;
  offer.has_drivers = true;
  constexpr cl_device_type kAccelerators = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
  std::vector<cl_device_id> accelerators;
  std::vector<cl_device_id> processors;
  for (cl_uint i = 0; i < std::min<cl_uint>(count, platforms.size()); ++i) {
    add_devices(accelerators, platforms[i], kAccelerators, offer.trouble);
    std::string ignored;  // a platform for GPUs only need not know of CPUs
    add_devices(processors, platforms[i], CL_DEVICE_TYPE_CPU, ignored);
  }
  bool failed = false;
  for (cl_device_id device : accelerators) {
    const std::string name = device_name(device);
    const Trial trial = tried(device);
    if (trial.failure.empty()) {
      offer.accelerators.push_back(name);
      continue;
    }
    failed = true;
    if (!trial.wanted) continue;
    offer.refused.push_back(
        fmt::format("OpenCL device {} gets no work: it {}", name, trial.failure));
  }
  for (cl_device_id device : processors) offer.processors.push_back(device_name(device));
  if (failed) leave_out_accelerators(offer);
  return offer;
}

bool equal_devices(const OpenclOffer& offer) {
  std::vector<std::string> names;
  const bool only_cpus = is_on("STARPU_OPENCL_ONLY_ON_CPUS");
  if (!only_cpus) names = offer.accelerators;
  if (only_cpus || is_on("STARPU_OPENCL_ON_CPUS")) {
    names.insert(names.end(), offer.processors.begin(), offer.processors.end());
  }
  return names.size() > 1 &&
         std::ranges::all_of(names, [&](const std::string& name) { return name == names.front(); });
}

std::optional<std::string> missing_devices(const OpenclOffer& offer, unsigned workers) {
  const std::string count = environment("STARPU_NOPENCL");
  const std::string trouble = offer.trouble.empty() ? "" : ": " + offer.trouble;
  if (!count.empty()) {
    const unsigned long asked = std::strtoul(count.c_str(), nullptr, 10);
    if (workers >= asked) return {};
    return fmt::format(
        "STARPU_NOPENCL asks for {} OpenCL devices, there are {}; the others' work goes "
        "elsewhere{}",
        asked, workers, trouble);
  }
  for (const char* variable : {"STARPU_OPENCL_ON_CPUS", "STARPU_OPENCL_ONLY_ON_CPUS"}) {
    if (workers == 0 && is_on(variable)) {
      return fmt::format("{} asks for an OpenCL device of the CPU, there is none{}", variable,
                         trouble);
    }
  }
  if (workers < offer.accelerators.size()) {
    return fmt::format(
        "OpenCL has {} accelerators ({}), StarPU drives {} OpenCL devices; the others' work goes "
        "elsewhere",
        offer.accelerators.size(), fmt::join(offer.accelerators, ", "), workers);
  }
  // A machine without any driver is as good as another.
  if (offer.has_drivers && !offer.trouble.empty()) {
    return offer.trouble + "; their work goes elsewhere";
  }
  return {};
}

}  // namespace starpmc
