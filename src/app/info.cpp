#include "app/info.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "error.hpp"
#include "io/run_summary.hpp"
#include "kernels/operations.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

std::size_t count_models() {
  std::error_code error;
  std::size_t models = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(performance_model_folder(), error)) {
    if (entry.path().filename().string().starts_with("starpmc_")) ++models;
  }
  return models;
}

}  // namespace

int run_info(std::span<const std::string> arguments) {
  if (!arguments.empty()) {
    throw InputError("command line", "info takes no arguments", arguments[0],
                     "write: starpmc info");
  }
  const StarpuRuntime runtime(Precision::mixed, Implementation::any);
  std::cout << fmt::format("starpmc {}, StarPU {}, HDF5 {}\n", STARPMC_VERSION, starpu_version(),
                           hdf5_library_version());
  std::cout << fmt::format("scheduler: {} (STARPU_SCHED)\n", runtime.scheduler());
  std::cout << fmt::format("SIMD instruction set: {}\n", simd::instruction_set());
  std::cout << "workers:\n";
  for (const WorkerDescription& worker : runtime.workers()) {
    std::cout << fmt::format("  {:3}  {}\n", worker.id, worker.name);
  }
  if (runtime.opencl_workers() == 0) {
    std::cout << "no OpenCL device; PoCL's CPU device joins with STARPU_OPENCL_ON_CPUS=1\n";
  }
  for (const std::string& warning : runtime.warnings()) std::cout << "warning: " << warning << '\n';
  std::cout << fmt::format("performance models: {} in {}{}\n", count_models(),
                           performance_model_folder().string(),
                           count_models() == 0 ? " (the first run calibrates itself)" : "");
  std::cout << fmt::format("OpenCL kernels: {}\n", kernel_sources().string());
  return 0;
}

}  // namespace starpmc
