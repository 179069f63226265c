#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

/// Where a case runs: an implementation on one worker, or on all that have it.
struct BenchTarget {
  Implementation implementation = Implementation::any;
  int worker = codelets::kAnyWorker;
  std::string device;  ///< "1 core", "15 cores", "OpenCL 0.0 (...)", "2 OpenCL devices"

  /// Lets tasks run here only.
  void use() const { StarpuRuntime::restrict_to(implementation, worker); }
};

/// "1 core", "2 cores"
std::string counted(std::size_t number, std::string_view noun);

/// One worker of each kind: a CPU core, and every OpenCL device.
std::vector<BenchTarget> single_targets(const StarpuRuntime& runtime,
                                        std::span<const Implementation> implementations);

/// These, and all workers of a kind together where there are several.
std::vector<BenchTarget> all_targets(const StarpuRuntime& runtime,
                                     std::span<const Implementation> implementations);

/// The fastest a machine has, for preparations that are not measured.
BenchTarget preparation_target(const StarpuRuntime& runtime);

}  // namespace starpmc
