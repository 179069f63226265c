#include "bench/target.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>

#include "runtime/opencl_programs.hpp"

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

std::vector<BenchTarget> bench_targets(const StarpuRuntime& runtime,
                                       std::span<const Implementation> implementations,
                                       WorkerChoice choice) {
  std::vector<BenchTarget> single;
  std::vector<BenchTarget> together;
  for (const Implementation implementation : implementations) {
    if (implementation == Implementation::any) {
      together.push_back(
          {implementation, codelets::kAnyWorker, "all workers", runtime.workers().size()});
      continue;
    }
    const std::vector<WorkerDescription> workers = workers_for(runtime, implementation);
    const bool opencl = implementation == Implementation::opencl;
    if (workers.size() > 1) {
      together.push_back({implementation, codelets::kAnyWorker,
                          fmt::format("{} {}", workers.size(), opencl ? "OpenCL devices" : "cores"),
                          workers.size()});
      if (choice == WorkerChoice::all) continue;
    }
    for (const WorkerDescription& worker : workers) {
      single.push_back({implementation, worker.id, worker.opencl ? worker.name : "1 core"});
      if (!worker.opencl) break;  // one core is like another
    }
  }
  if (choice != WorkerChoice::one) single.insert(single.end(), together.begin(), together.end());
  return single;
}

BenchTarget preparation_target(const StarpuRuntime& runtime) {
  if (codelets::has_opencl_gpu()) return {Implementation::opencl, codelets::kAnyWorker, ""};
  if (runtime.cpu_workers() > 0) return {Implementation::simd, codelets::kAnyWorker, ""};
  return {Implementation::any, codelets::kAnyWorker, ""};
}

}  // namespace starpmc
