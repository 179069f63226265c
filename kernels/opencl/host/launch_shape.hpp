#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "kernels/common/layout.h"

namespace starpmc::opencl {

/// Sizes the kernels are compiled for: of work-groups, and of what an item keeps in registers.
struct LaunchShape {
  bool cpu;              ///< items are threads with vector registers, not lanes of a GPU
  int grid_group;        ///< items of a group of the grid term; GPU: a multiple of 32
  int grid_sites;        ///< sites in the registers of a CPU's item of the grid term
  int list_capacity;     ///< entries of a GPU's list of sites in reach of a block
  int points_unrolled;   ///< of a GPU's loop; PoCL 3.1 compiles it wrong unless this is 1
  int points_per_sum;    ///< points summed in Real before the sum goes to fp64
  int pair_group;        ///< items that share the molecules an entry meets
  int table_tile;        ///< entries on an edge of the pairs that a group takes
  int sum_group;         ///< items that share a sum
  int grid_sum_group;    ///< items that share the sum of a candidate's grid energy
  int site_group;        ///< items of a group that places charged sites
  int propose_group;     ///< items of the one group that proposes
  int decide_group;      ///< items of the one group that decides
  int most_candidates;   ///< of a window that this group can decide
  int difference_group;  ///< items that share a row of differences
  int exact_group;       ///< items of a group that evaluates steps exactly
  int exact_groups_per_unit;
  int potential_group;        ///< items that share a block's points
  int reference_group;        ///< items that share a candidate's field of a reference
  int pose_group;             ///< items that share a block's sites; divides STARPMC_BLOCK_POINTS
  int most_doubts = 32;       ///< steps of a window whose points all groups evaluate; then one does
  int groups_per_unit;        ///< groups in flight that keep a compute unit busy
  int most_slices;            ///< groups that share a block's sites where there are few blocks
  int least_groups_per_unit;  ///< below that, they do
  int most_chunk_blocks;      ///< compact blocks that stay in cache while all sites meet them
  /// A kernel's last group sees what the others wrote: whole windows take three launches, not
  /// twelve. Left out: on NVIDIA's GPUs.
  std::optional<bool> last_group_goes_on{};
  /// fma() is an instruction for fp32, too (CL_FP_FMA); else products are rounded before the sum.
  bool fused = true;

  static LaunchShape for_cpu() {
    return {.cpu = true,
            .grid_group = 1,
            .grid_sites = 4,
            .list_capacity = 0,
            .points_unrolled = 1,
            .points_per_sum = 64,
            .pair_group = 16,
            .table_tile = 4,
            .sum_group = 16,
            .grid_sum_group = 16,
            .site_group = 16,
            .propose_group = 16,
            .decide_group = 1,
            .most_candidates = 2048,
            .difference_group = 16,
            .exact_group = 16,
            .exact_groups_per_unit = 2,
            .potential_group = 16,
            .reference_group = 16,
            .pose_group = 16,
            .groups_per_unit = 4,
            .most_slices = 1,
            .least_groups_per_unit = 1,
            .most_chunk_blocks = 64};
  }
  /// Measured on an H100 and an H200: with groups of 64 items for the grid term a small density
  /// took a fifth longer, since each group makes the list of the sites it meets.
  static LaunchShape for_gpu() {
    return {.cpu = false,
            .grid_group = 128,
            .grid_sites = 3,
            .list_capacity = 1024,
            .points_unrolled = 8,
            .points_per_sum = 64,
            .pair_group = 128,
            .table_tile = 16,
            .sum_group = 64,
            .grid_sum_group = 256,
            .site_group = 64,
            .propose_group = 512,
            .decide_group = 512,
            .most_candidates = 1 << 20,
            .difference_group = 64,
            .exact_group = 128,
            .exact_groups_per_unit = 8,
            .potential_group = STARPMC_BLOCK_POINTS,
            .reference_group = 96,
            .pose_group = 64,
            .groups_per_unit = 24,
            .most_slices = 4,
            .least_groups_per_unit = 1,
            .most_chunk_blocks = 1 << 30};
  }

  /// A GPU's kernels on a CPU, for tests. PoCL takes no unrolled loop over local memory and is slow
  /// with large groups.
  static LaunchShape for_gpu_on_cpu() {
    LaunchShape shape = for_gpu();
    shape.points_unrolled = 1;
    shape.pair_group = 16;
    shape.table_tile = 4;
    shape.decide_group = 16;
    shape.propose_group = 16;
    shape.grid_sum_group = 16;
    shape.exact_groups_per_unit = 2;
    return shape;
  }
  /// The same as NVIDIA's run them. PoCL 3.1 compiles them for a minute, and ends with a
  /// segmentation fault where there is a reference; Intel's OpenCL for CPUs takes half a minute for
  /// all.
  static LaunchShape for_nvidia_on_cpu() {
    LaunchShape shape = for_gpu_on_cpu();
    shape.last_group_goes_on = true;
    shape.pair_group = shape.grid_group = 32;
    return shape;
  }

  int largest_group() const {
    return std::max({grid_group, pair_group, sum_group, grid_sum_group, site_group, propose_group,
                     decide_group, difference_group, exact_group, potential_group, reference_group,
                     pose_group});
  }
  /// The same with no group larger than a device takes; all sizes are powers of 2.
  LaunchShape limited_to(std::size_t most_items) const {
    LaunchShape shape = *this;
    for (int* const group :
         {&shape.grid_group, &shape.pair_group, &shape.sum_group, &shape.grid_sum_group,
          &shape.site_group, &shape.propose_group, &shape.decide_group, &shape.difference_group,
          &shape.exact_group, &shape.potential_group, &shape.reference_group, &shape.pose_group}) {
      while (*group > 1 && static_cast<std::size_t>(*group) > most_items) *group /= 2;
    }
    return shape;
  }

  static constexpr int kPotentialTile = 256;  ///< charges in local memory at a time

  std::string definitions() const {
    return std::string(" -DSTARPMC_CPU_DEVICE=") + (cpu ? "1" : "0") +
           " -DSTARPMC_FUSED=" + (fused ? "1" : "0") +
           " -DGRID_GROUP=" + std::to_string(grid_group) +
           " -DLIST_CAPACITY=" + std::to_string(list_capacity) +
           " -DSITES_PER_ITEM=" + std::to_string(grid_sites) +
           " -DPOINTS_UNROLLED=" + std::to_string(points_unrolled) +
           " -DPOINTS_PER_SUM=" + std::to_string(points_per_sum) +
           " -DPAIR_GROUP=" + std::to_string(pair_group) +
           " -DTABLE_TILE=" + std::to_string(table_tile) +
           " -DSUM_GROUP=" + std::to_string(sum_group) +
           " -DGRID_SUM_GROUP=" + std::to_string(grid_sum_group) +
           " -DSITE_GROUP=" + std::to_string(site_group) +
           " -DPROPOSE_GROUP=" + std::to_string(propose_group) +
           " -DDECIDE_GROUP=" + std::to_string(decide_group) +
           " -DMOST_CANDIDATES=" + std::to_string(most_candidates) +
           " -DLAST_GROUP_GOES_ON=" + (last_group_goes_on.value_or(false) ? "1" : "0") +
           " -DDIFFERENCE_GROUP=" + std::to_string(difference_group) +
           " -DPOTENTIAL_GROUP=" + std::to_string(potential_group) +
           " -DREFERENCE_GROUP=" + std::to_string(reference_group) +
           " -DPOSE_GROUP=" + std::to_string(pose_group) +
           " -DPOTENTIAL_TILE=" + std::to_string(kPotentialTile) +
           " -DEXACT_GROUP=" + std::to_string(exact_group) +
           " -DMOST_DOUBTS=" + std::to_string(most_doubts);
  }
};

}  // namespace starpmc::opencl
