#pragma once

#include <string>

#include "kernels/common/layout.h"

namespace starpmc::opencl {

/// Sizes the kernels are compiled for: of work-groups, and of what an item keeps in registers.
struct LaunchShape {
  int grid_group;        ///< items of a group of the grid term
  int grid_sites;        ///< sites per item of the grid term
  int points_per_sum;    ///< points summed in Real before the sum goes to fp64
  int pair_group;        ///< items that share the molecules an entry meets
  int sum_group;         ///< items that share a sum
  int list_group;        ///< items of the one group that lists charged sites
  int propose_group;     ///< items of the one group that proposes
  int decide_group;      ///< items of the one group that decides
  int entries_per_item;  ///< entries whose energies an item of that group keeps
  int steps_ahead;       ///< steps whose exchanges are read ahead of the decision
  int exact_group;       ///< items of a group that evaluates steps exactly
  int exact_groups_per_unit;
  int potential_group;    ///< items that share a block's points
  int most_doubts = 32;   ///< steps of a window that all groups evaluate exactly; then one does
  int groups_per_unit;    ///< groups in flight that keep a compute unit busy
  int most_chunk_blocks;  ///< compact blocks that stay in cache while all sites meet them

  static LaunchShape for_cpu() {
    return {.grid_group = 1,
            .grid_sites = 3,
            .points_per_sum = 64,
            .pair_group = 16,
            .sum_group = 16,
            .list_group = 16,
            .propose_group = 16,
            .decide_group = 1,
            .entries_per_item = 3072,
            .steps_ahead = 1,
            .exact_group = 16,
            .exact_groups_per_unit = 2,
            .potential_group = 16,
            .groups_per_unit = 4,
            .most_chunk_blocks = 64};
  }
  /// Measured on an H100 (shared/measurements.md, variant A).
  static LaunchShape for_gpu() {
    return {.grid_group = 64,
            .grid_sites = 3,
            .points_per_sum = 64,
            .pair_group = 256,
            .sum_group = 64,
            .list_group = 256,
            .propose_group = 256,
            .decide_group = 512,
            .entries_per_item = 2,
            .steps_ahead = 4,
            .exact_group = 128,
            .exact_groups_per_unit = 8,
            .potential_group = STARPMC_BLOCK_POINTS,
            .groups_per_unit = 32,
            .most_chunk_blocks = 1 << 30};
  }

  std::string definitions() const {
    return " -DGRID_GROUP=" + std::to_string(grid_group) +
           " -DSITES_PER_ITEM=" + std::to_string(grid_sites) +
           " -DPOINTS_PER_SUM=" + std::to_string(points_per_sum) +
           " -DPAIR_GROUP=" + std::to_string(pair_group) +
           " -DSUM_GROUP=" + std::to_string(sum_group) +
           " -DLIST_GROUP=" + std::to_string(list_group) +
           " -DPROPOSE_GROUP=" + std::to_string(propose_group) +
           " -DDECIDE_GROUP=" + std::to_string(decide_group) +
           " -DENTRIES_PER_ITEM=" + std::to_string(entries_per_item) +
           " -DSTEPS_AHEAD=" + std::to_string(steps_ahead) +
           " -DPOTENTIAL_GROUP=" + std::to_string(potential_group) + " -DPOTENTIAL_TILE=256" +
           " -DEXACT_GROUP=" + std::to_string(exact_group) +
           " -DMOST_DOUBTS=" + std::to_string(most_doubts);
  }
};

}  // namespace starpmc::opencl
