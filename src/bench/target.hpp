#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

/// Where a case runs: an implementation on one worker, or on all that have it.
struct BenchTarget {
  Implementation implementation = Implementation::any;
  int worker = codelets::kAnyWorker;
  std::string device;       ///< "1 core", "15 cores", "OpenCL 0.0 (...)", "2 OpenCL devices"
  std::size_t workers = 1;  ///< how many of them

  /// Lets tasks run here only.
  void use() const { StarpuRuntime::restrict_to(implementation, worker); }
};

/// Workers of a kind: a CPU core and every OpenCL device alone, or all that have an implementation
/// together, or both.
enum class WorkerChoice { one, all, both };

/// All together are the same as one where there is only one.
/// @param implementations of `any`, only all workers together
std::vector<BenchTarget> bench_targets(const StarpuRuntime& runtime,
                                       std::span<const Implementation> implementations,
                                       WorkerChoice choice);

/// The fastest a machine has, for preparations that are not measured.
BenchTarget preparation_target(const StarpuRuntime& runtime);

}  // namespace starpmc
