#include "app/info.hpp"

#include <fmt/format.h>

#include <iostream>

#include "error.hpp"
#include "io/run_summary.hpp"
#include "kernels/operations.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
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
  for (const std::string& note : runtime.notes()) std::cout << "note: " << note << '\n';
  std::cout << fmt::format(
      "performance models of this machine: {} in {}{}\n", runtime.models().count(),
      runtime.models().place().string(),
      runtime.models().count() == 0 ? " (the first run calibrates itself)" : "");
  std::cout << fmt::format("OpenCL kernels: {}\n", kernel_sources().string());
  return 0;
}

}  // namespace starpmc
