#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "bench/bench_system.hpp"
#include "bench/measurement.hpp"
#include "bench/target.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

/// How a PMC cycle is run.
struct CycleSettings {
  Precision precision = Precision::mixed;
  TaskSize tasks = TaskSize::automatic;
  unsigned chains = 1;  ///< at once
  bool output = false;  ///< write energies.csv and trajectory.h5 as a run does
};

/// What steps took.
struct CycleTime {
  double seconds = 0;         ///< of the wall clock, output included
  double output_seconds = 0;  ///< of them, spent in writing
  std::uint64_t steps = 0;    ///< of each chain
  TaskTimes tasks;

  double microseconds_per_step() const { return 1e6 * seconds / static_cast<double>(steps); }
};

/// Chains of a benchmark that make their PMC cycles side by side, each submitted by a thread of its
/// own.
class PaperCycle {
 public:
  /// @param target      where the steps run
  /// @param preparation where the starting energies are computed
  PaperCycle(const BenchSystem& bench, const CycleSettings& settings, const BenchTarget& target,
             const BenchTarget& preparation);
  ~PaperCycle();
  PaperCycle(const PaperCycle&) = delete;
  PaperCycle& operator=(const PaperCycle&) = delete;

  /// The next `steps` steps of each chain.
  CycleTime run(std::uint64_t steps);
  /// After a warm-up, which lasts until steps take a steady time: `steps` steps, or as many as take
  /// about `seconds`; the median of several such cycles where they fit.
  CycleTime run_for(std::uint64_t steps, double seconds);

 private:
  std::uint64_t steps_that_fit(std::uint64_t steps, double seconds);
  class Member;
  const BenchSystem& bench_;
  CycleSettings settings_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace starpmc
