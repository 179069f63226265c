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
    __global const coordinate *own_points = points + (ulong)block * 4 * STARPMC_BLOCK_POINTS;
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
   work-group. For each block the group lists the sites in reach, so that hardly a pair beyond the
   cutoff is computed, and its teams share the list. */
__kernel GROUP_OF(GRID_GROUP) void qmmm_coulomb_grid_pairs(
    PairConstants constants, int capacity, BUFFER(sites), int blocks, int blocks_per_chunk,
    BUFFER(block_headers), BUFFER(points), BUFFER(partials)) {
  CONSTANT_ARRAY(double, sites);
  CONSTANT_ARRAY(double, block_headers);
  CONSTANT_ARRAY(coordinate, points);
  __local tile_point tile[STARPMC_BLOCK_POINTS];
  __local uint list[LIST_CAPACITY];
  __local double list_energies[LIST_CAPACITY];
  __local uint shared[2 * GRID_GROUP];
  __global const real *rounded = rounded_sites(sites, capacity);
  const int item = (int)get_local_id(0);
  const int chunk = (int)get_group_id(0);
  const int slice = (int)get_group_id(1);
  const int slices = (int)get_num_groups(1);
  __global double *own_partials = (__global double *)(partials_memory + partials_offset) +
                                  (chunk * slices + slice) * (ulong)capacity;
  const PairReals box = pair_reals(constants);
  const GridReals reals = grid_reals(constants);
  for (int site = item; site < capacity; site += GRID_GROUP) own_partials[site] = 0;
  const int last_block = min(blocks, (chunk + 1) * blocks_per_chunk);
  for (int block = chunk * blocks_per_chunk; block < last_block; ++block) {
    __global const double *header = block_headers + block * BLOCK_FIELDS;
    const BlockView view = block_view(header, constants);
    load_tile(points + (ulong)block * 4 * STARPMC_BLOCK_POINTS, tile, GRID_GROUP);
    for (int batch = 0; batch < capacity; batch += SITES_PER_CHOICE * GRID_GROUP) {
      const int first = batch + item;
      const Choice choice = choose_sites(rounded, capacity, first, view, box);
      const uint inside = popcount(choice.inside);
      const uint cut = cut_entries(choice, rounded, capacity, first, view, box);
      uint total;
      const uint before = sum_before(inside | cut << 16, shared, &total);
      const int all_inside = total & 0xFFFF;
      const int count = all_inside + (total >> 16);
      for (int begin = 0; begin < count; begin += LIST_CAPACITY) {
        const int listed = min(count - begin, LIST_CAPACITY);
        write_entries(choice, before & 0xFFFF, all_inside + (before >> 16), begin, list, rounded,
                      capacity, first, view, box);
        barrier(CLK_LOCAL_MEM_FENCE);
        team_passes(slice, slices, reals, constants, listed, all_inside - begin, list,
                    list_energies, tile, sites, capacity, header);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        const int rows = (listed + TEAM - 1) / TEAM;
        add_to_sites(slice * rows / slices * TEAM, min(listed, (slice + 1) * rows / slices * TEAM),
                     list, list_energies, own_partials);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
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
