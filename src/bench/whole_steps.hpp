#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/contestant.hpp"
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

/// Runs chains, each submitted by a thread of its own, and counts everything. Several contestants
/// take turns in short rounds, of which the median counts.
/// @param preparation where the starting energies are computed, unmeasured
/// @return of each contestant
/// @throws RunError when contestants make different decisions that ought to be the same
std::vector<std::vector<Figure>> time_whole_steps(std::span<const Contestant> contestants,
                                                  const WholeStepsSettings& settings,
                                                  const BenchTarget& target,
                                                  const BenchTarget& preparation);

/// Time of metropolis_decide, a task, in a chain of the MM molecules alone.
std::vector<std::vector<Figure>> time_decisions(std::span<const Contestant> contestants,
                                                const WholeStepsSettings& settings,
                                                const BenchTarget& target,
                                                const BenchTarget& preparation);

}  // namespace starpmc
