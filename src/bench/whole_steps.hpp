#pragma once

#include <cstdint>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/bench_system.hpp"
#include "bench/target.hpp"

namespace starpmc {

/// How whole steps are timed.
struct WholeStepsSettings {
  Precision precision = Precision::mixed;
  std::uint32_t window = 1;  ///< steps evaluated together
  unsigned chains = 1;       ///< at once
  double seconds = 1;
  bool certified = true;
};

/// Runs chains, each submitted by a thread of its own, and counts everything.
/// @param preparation where the starting energies are computed, unmeasured
std::vector<Figure> time_whole_steps(const BenchSystem& bench, const WholeStepsSettings& settings,
                                     const BenchTarget& target, const BenchTarget& preparation);

/// Time of metropolis_decide, a task, in a chain of the MM molecules alone.
std::vector<Figure> time_decisions(const BenchSystem& bench, const WholeStepsSettings& settings,
                                   const BenchTarget& target, const BenchTarget& preparation);

}  // namespace starpmc
