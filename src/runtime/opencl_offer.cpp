#include "runtime/opencl_offer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/opencl/host/handles.hpp"
#include "runtime/environment.hpp"

namespace starpmc {
namespace {

std::string platform_name(cl_platform_id platform) {
  char name[256] = "?";
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
  return name;
}

void add_devices(std::vector<std::string>& names, cl_platform_id platform, cl_device_type type,
                 std::string& trouble) {
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
  for (cl_uint j = 0; j < std::min<cl_uint>(found, devices.size()); ++j) {
    char name[256] = "?";
    clGetDeviceInfo(devices[j], CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
    names.emplace_back(name);
  }
}

bool is_on(const char* variable) {
  const std::string value = environment(variable);
  return !value.empty() && value != "0";
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
  for (cl_uint i = 0; i < std::min<cl_uint>(count, platforms.size()); ++i) {
    add_devices(offer.accelerators, platforms[i], kAccelerators, offer.trouble);
    std::string ignored;  // a platform for GPUs only need not know of CPUs
    add_devices(offer.processors, platforms[i], CL_DEVICE_TYPE_CPU, ignored);
  }
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
    const std::string value = environment(variable);
    if (workers == 0 && !value.empty() && value != "0") {
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
