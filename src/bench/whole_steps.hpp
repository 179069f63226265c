#pragma once

#include <cstdint>
#include <optional>
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
  bool write = false;  ///< files as a run does
  /// Of a synthetic reference's response, which then takes the place of the density; none: no
  /// reference.
  std::optional<int> components{};
};

/// Runs chains, each submitted by a thread of its own, and counts everything. Several contestants
/// take turns in short rounds, of which the median counts.
/// @param preparation where the starting energies are computed, unmeasured
/// @return of each contestant; the kernels are those of a run with a task per term
/// @throws RunError when contestants make different decisions that ought to be the same
std::vector<Measured> time_whole_steps(std::span<const Contestant> contestants,
                                       const WholeStepsSettings& settings,
                                       const BenchTarget& target, const BenchTarget& preparation);

/// The first steps of a chain with a task per term, without warm-up, in `intervals` parts of
/// `steps`: how StarPU's models and the placement of tasks settle.
/// @return of each interval
std::vector<Measured> time_intervals(const Contestant& contestant,
                                     const WholeStepsSettings& settings, const BenchTarget& target,
                                     const BenchTarget& preparation, std::uint64_t steps,
                                     int intervals);

}  // namespace starpmc
