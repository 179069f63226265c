#include "opencl/window_sums.h"

#if STARPMC_CPU_DEVICE
#include "opencl/grid_lanes.h"

/* A work-group, which is one item, per chunk of blocks. partials: `capacity` values each. */
__kernel GROUP_OF(GRID_GROUP) void qmmm_coulomb_grid_pairs(
    PairConstants constants, int capacity, BUFFER(sites), int blocks, int blocks_per_chunk,
    BUFFER(block_headers), BUFFER(points), BUFFER(partials)) {
  CONSTANT_ARRAY(double, sites);
  CONSTANT_ARRAY(double, block_headers);
  CONSTANT_ARRAY(coordinate, points);
  const int chunk = (int)get_group_id(0);
  __global const real *rounded = rounded_sites(sites, capacity);
  __global double *own_partials =
      (__global double *)(partials_memory + partials_offset) + chunk * (ulong)capacity;
  const PairReals box = pair_reals(constants);
  const GridReals reals = grid_reals(constants);
  for (int site = 0; site < capacity; ++site) own_partials[site] = 0;
  const int last_block = min(blocks, (chunk + 1) * blocks_per_chunk);
  for (int block = chunk * blocks_per_chunk; block < last_block; ++block) {
    __global const double *header = block_headers + block * BLOCK_FIELDS;
    __global const coordinate *own_points = points + (ulong)block * STARPMC_BLOCK_VALUES;
    const BlockView view = block_view(header, constants);
    Queues queues;
    queues.inside_count = queues.cut_count = 0;
    for (int first = 0; first < capacity; first += LANES) {
      queue_entries(&queues, rounded, capacity, first, view, box);
      const int least = first + LANES < capacity ? SITES_PER_ITEM : 1;
      while (queues.inside_count >= least) {
        const int count = min(queues.inside_count, SITES_PER_ITEM);
        queues.inside_count -= count;
        add_block(0, reals, constants, queues.inside + queues.inside_count, count, sites, capacity,
                  header, own_points, own_partials);
      }
      while (queues.cut_count >= least) {
        const int count = min(queues.cut_count, SITES_PER_ITEM);
        queues.cut_count -= count;
        add_block(1, reals, constants, queues.cut + queues.cut_count, count, sites, capacity,
                  header, own_points, own_partials);
      }
    }
  }
}

#else
#include "opencl/grid_teams.h"

/* Work-groups: (chunks of blocks, slices of each block's list). partials: `capacity` values per
   work-group. */
__kernel GROUP_OF(GRID_GROUP) void qmmm_coulomb_grid_pairs(
    PairConstants constants, int capacity, BUFFER(sites), int blocks, int blocks_per_chunk,
    BUFFER(block_headers), BUFFER(points), BUFFER(partials)) {
  CONSTANT_ARRAY(double, sites);
  CONSTANT_ARRAY(double, block_headers);
  CONSTANT_ARRAY(coordinate, points);
  ARRAY(double, partials);
  GRID_MEMORY(memory);
  const GridShare share = {(int)get_group_id(0), (int)get_group_id(1), (int)get_num_groups(1),
                           blocks, blocks_per_chunk};
  grid_pairs_of_group(constants, share, capacity, sites, block_headers, points, partials, memory);
}

#endif

/* A work-group per candidate. shared: local memory, a value per item */
__kernel GROUP_OF(GRID_SUM_GROUP) void qmmm_coulomb_grid_sum(PairConstants constants,
                                                             int sites_per_candidate, int capacity,
                                                             int parts, int candidates,
                                                             BUFFER(sites), BUFFER(partials),
                                                             BUFFER(energies), __local double *shared) {
  CONSTANT_ARRAY(double, sites);
  CONSTANT_ARRAY(double, partials);
  ARRAY(double, energies);
  grid_sums_of_candidates(constants, sites_per_candidate, capacity, parts, candidates,
                          (int)get_group_id(0), 1, sites, partials, energies, shared);
}
