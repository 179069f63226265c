#pragma once

#include "app/inputs.hpp"
#include "qm/density_grid.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

/// What a run's sampling takes on this machine, as a few seconds of it show.
struct SamplingTrial {
  double steps_per_second = 0;    ///< of all chains together
  double memory_mb = 0;           ///< resident, of this program with them
  double memory_of_chain_mb = 0;  ///< of which each chain has: sites, density, tables, tasks
};

/// Makes steps of the run's chains and forgets them.
/// @param grid   empty: no solute
/// @param chains how many
/// @throws RunError where a device fails
SamplingTrial try_sampling(const Inputs& inputs, const DensityGrid& grid, unsigned chains);

/// The density of the run, or one of its size and structure where a QM program is to make it.
DensityGrid density_for_trial(const Inputs& inputs);

}  // namespace starpmc
