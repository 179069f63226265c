#include "bench/target.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>

#include "codelets/opencl_programs.hpp"

namespace starpmc {
namespace {

/// Workers that can run an implementation; OpenCL devices left without kernels are none.
std::vector<WorkerDescription> workers_for(const StarpuRuntime& runtime,
                                           Implementation implementation) {
  std::vector<WorkerDescription> workers = runtime.workers();
  std::erase_if(workers, [&](const WorkerDescription& worker) {
    if (worker.opencl != (implementation == Implementation::opencl)) return true;
    return worker.opencl && !codelets::has_opencl_program(starpu_worker_get_devid(worker.id));
  });
  return workers;
}

}  // namespace

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::vector<BenchTarget> single_targets(const StarpuRuntime& runtime,
                                        std::span<const Implementation> implementations) {
  std::vector<BenchTarget> targets;
  for (const Implementation implementation : implementations) {
    if (implementation == Implementation::any) continue;
    for (const WorkerDescription& worker : workers_for(runtime, implementation)) {
      targets.push_back({implementation, worker.id, worker.opencl ? worker.name : "1 core"});
      if (!worker.opencl) break;  // one core is like another
    }
  }
  return targets;
}

std::vector<BenchTarget> all_targets(const StarpuRuntime& runtime,
                                     std::span<const Implementation> implementations) {
  std::vector<BenchTarget> targets = single_targets(runtime, implementations);
  for (const Implementation implementation : implementations) {
    if (implementation == Implementation::any) {
      targets.push_back({implementation, codelets::kAnyWorker, "all workers"});
      continue;
    }
    const std::size_t count = workers_for(runtime, implementation).size();
    if (count < 2) continue;
    const bool opencl = implementation == Implementation::opencl;
    targets.push_back(
        {implementation, codelets::kAnyWorker, counted(count, opencl ? "OpenCL device" : "core")});
  }
  return targets;
}

BenchTarget preparation_target(const StarpuRuntime& runtime) {
  if (codelets::has_opencl_gpu()) return {Implementation::opencl, codelets::kAnyWorker, ""};
  if (runtime.cpu_workers() > 0) return {Implementation::simd, codelets::kAnyWorker, ""};
  return {Implementation::any, codelets::kAnyWorker, ""};
}

}  // namespace starpmc
