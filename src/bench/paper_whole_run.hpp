#pragma once

#include <cstdint>

namespace starpmc {

/// What `starpmc run configs/bench-R.cfg`, shortened, tells in its summary.json.
struct WholeRun {
  unsigned chains = 1;
  unsigned updates = 1;             ///< of each chain
  std::uint64_t steps = 0;          ///< between two updates
  double wall_seconds = 0;          ///< from the start of the QM programs to the last step
  double first_update_seconds = 0;  ///< mean over the chains
  double update_seconds = 0;        ///< mean of the later ones; 0 where there is one only
  double share_qm = 0;              ///< of all CPU workers' time
  double share_sampling = 0;        ///< of all workers' time
};

/// Runs this very program as a process of its own, with its QM programs; no StarpuRuntime may live
/// in this one, for both would use the same cores.
/// @throws RunError with the last lines it printed when it fails
WholeRun run_whole(unsigned chains, unsigned updates, std::uint64_t steps);

/// Chains at once: one per CPU worker, as far as four fifths of the free memory hold their QM
/// programs. Without a running StarpuRuntime.
unsigned whole_run_chains(unsigned cpu_workers);

/// Seconds of the paper's whole run by n chains, which share its steps and updates, from runs of
/// one and of several updates: the first update and the start count once, the rest in proportion.
/// @param cycle_seconds of the steps between two updates that were left out of the shortened runs
double extrapolate_whole_run(const WholeRun& one, const WholeRun& several, double cycle_seconds);

}  // namespace starpmc
