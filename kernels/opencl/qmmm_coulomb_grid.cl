#include "opencl/compact_block.h"
#include "opencl/reduction.h"
#include "opencl/window.h"

#if !STARPMC_CPU_DEVICE

/* Energies of an item's sites, which stay in registers, with a block's points in local memory. */
#define ADD_TILE(DISTANCE)                                                                  \
  for (int first = 0; first < STARPMC_BLOCK_POINTS; first += POINTS_PER_SUM) {              \
    real sums[SITES_PER_ITEM];                                                              \
    for (int k = 0; k < SITES_PER_ITEM; ++k) sums[k] = 0;                                   \
    _Pragma("unroll 8") for (int j = first; j < first + POINTS_PER_SUM; ++j) {              \
      const real4 point = tile[j];                                                          \
      _Pragma("unroll") for (int k = 0; k < SITES_PER_ITEM; ++k) {                          \
        real dx = position[k].x - point.x;                                                  \
        real dy = position[k].y - point.y;                                                  \
        real dz = position[k].z - point.z;                                                  \
        DISTANCE                                                                            \
        const real squared = fma(dx, dx, fma(dy, dy, dz * dz));                             \
        const real r2 = fmax(squared, (real)STARPMC_MINIMUM_DISTANCE_SQUARED);              \
        const real inverse_r = reciprocal_square_root(r2);                                  \
        const real energy =                                                                 \
            fma(reals.inverse_square, r2 * inverse_r, inverse_r - reals.twice_inverse);     \
        sums[k] = r2 < reals.cutoff_squared ? fma(point.w, energy, sums[k]) : sums[k];      \
      }                                                                                     \
    }                                                                                       \
    _Pragma("unroll") for (int k = 0; k < SITES_PER_ITEM; ++k) energies[k] += (double)sums[k]; \
  }
#define WRAP_PAIR                                            \
  dx = MINIMUM_IMAGE(dx, reals.box_x, reals.inverse_x);      \
  dy = MINIMUM_IMAGE(dy, reals.box_y, reals.inverse_y);      \
  dz = MINIMUM_IMAGE(dz, reals.box_z, reals.inverse_z);

static inline void add_tile(PairReals reals, __local const real4 *tile, const real3 *position,
                            double *energies) {
  ADD_TILE()
}

static inline void add_tile_wrapped(PairReals reals, __local const real4 *tile,
                                    const real3 *position, double *energies) {
  ADD_TILE(WRAP_PAIR)
}

/* Work-groups: (sites, chunks of blocks). partials: sites of one chunk after another. */
__kernel GROUP_OF(GRID_GROUP) void qmmm_coulomb_grid_pairs(
    PairConstants constants, int candidates, int capacity, BUFFER(sites), BUFFER(first_site),
    int blocks, int blocks_per_chunk, BUFFER(block_headers), BUFFER(points), BUFFER(partials)) {
  CONSTANT_ARRAY(double, sites);
  CONSTANT_ARRAY(int, first_site);
  CONSTANT_ARRAY(double, block_headers);
  CONSTANT_ARRAY(real, points);
  ARRAY(double, partials);
  __local real4 tile[STARPMC_BLOCK_POINTS];
  /* One is in use, one was just read, one is being cleared: no barrier between blocks needed. */
  __local int votes[3];
  const int item = (int)get_local_id(0);
  const int count = first_site[candidates];
  const int first = (int)get_group_id(0) * GRID_GROUP * SITES_PER_ITEM + item;
  if (first - item >= count) return;
  const PairReals reals = pair_reals(constants);
  double3 site[SITES_PER_ITEM];
  real3 position[SITES_PER_ITEM];
  double energies[SITES_PER_ITEM];
  for (int k = 0; k < SITES_PER_ITEM; ++k) {
    site[k] = site_position(sites, capacity, min(first + k * GRID_GROUP, count - 1));
    energies[k] = 0;
  }
  if (item < 3) votes[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int chunk = (int)get_group_id(1);
  const int last_block = min(blocks, (chunk + 1) * blocks_per_chunk);
  int turn = 0;
  for (int block = chunk * blocks_per_chunk; block < last_block; ++block) {
    __global const double *header = block_headers + block * BLOCK_FIELDS;
    int care = 0;
    for (int k = 0; k < SITES_PER_ITEM; ++k) {
      const double3 relative = minimum_image(site[k] - block_origin(header), constants);
      position[k] = to_real3(relative);
      care |= care_of(relative, header[BLOCK_RADIUS], constants);
    }
    if (care & CARE_REACH) atomic_or(&votes[turn], care);
    if (item == 0) votes[turn == 2 ? 0 : turn + 1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    care = votes[turn];
    turn = turn == 2 ? 0 : turn + 1;
    if (!(care & CARE_REACH)) continue;
    load_tile(points + block * 4 * STARPMC_BLOCK_POINTS, tile, GRID_GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (care & CARE_WRAP) {
      add_tile_wrapped(reals, tile, position, energies);
    } else {
      add_tile(reals, tile, position, energies);
    }
  }
  for (int k = 0; k < SITES_PER_ITEM; ++k) {
    const int index = first + k * GRID_GROUP;
    if (index < count) partials[chunk * capacity + index] = energies[k];
  }
}

#else

/* The same for a CPU: an item is a thread of its own, its lanes run over the points of a block in
   the first-level cache. */
#define ADD_BLOCK(DISTANCE, CUT)                                                             \
  {                                                                                          \
    lanes sums[SITES_PER_ITEM];                                                              \
    for (int k = 0; k < SITES_PER_ITEM; ++k) sums[k] = (lanes)(0);                           \
    for (int j = 0; j < STARPMC_BLOCK_POINTS; j += LANES) {                                  \
      const lanes x = load_lanes(points + j);                                                \
      const lanes y = load_lanes(points + STARPMC_BLOCK_POINTS + j);                         \
      const lanes z = load_lanes(points + 2 * STARPMC_BLOCK_POINTS + j);                     \
      const lanes charge = load_lanes(points + 3 * STARPMC_BLOCK_POINTS + j);                \
      _Pragma("unroll") for (int k = 0; k < SITES_PER_ITEM; ++k) {                           \
        lanes dx = position[k].x - x;                                                        \
        lanes dy = position[k].y - y;                                                        \
        lanes dz = position[k].z - z;                                                        \
        lanes r2;                                                                            \
        DISTANCE                                                                             \
        const lanes inverse_r = lanes_reciprocal_square_root(r2);                            \
        const lanes energy = COULOMB_ENERGY(reals, r2, inverse_r);                           \
        const lanes sum = charge * energy + sums[k];                                         \
        sums[k] = CUT ? (r2 < (lanes)(reals.cutoff_squared) ? sum : sums[k]) : sum;          \
      }                                                                                      \
    }                                                                                        \
    for (int k = 0; k < SITES_PER_ITEM; ++k) energies[k] += sum_of_lanes(sums[k]);           \
  }
#define PLAIN_DISTANCE r2 = dx * dx + (dy * dy + dz * dz);
#define CAREFUL_DISTANCE                                     \
  dx = MINIMUM_IMAGE(dx, reals.box_x, reals.inverse_x);      \
  dy = MINIMUM_IMAGE(dy, reals.box_y, reals.inverse_y);      \
  dz = MINIMUM_IMAGE(dz, reals.box_z, reals.inverse_z);      \
  r2 = dx * dx + (dy * dy + dz * dz);                        \
  r2 = r2 < (lanes)(STARPMC_MINIMUM_DISTANCE_SQUARED) ? (lanes)(STARPMC_MINIMUM_DISTANCE_SQUARED) : r2;

__kernel GROUP_OF(GRID_GROUP) void qmmm_coulomb_grid_pairs(
    PairConstants constants, int candidates, int capacity, BUFFER(sites), BUFFER(first_site),
    int blocks, int blocks_per_chunk, BUFFER(block_headers), BUFFER(points), BUFFER(partials)) {
  CONSTANT_ARRAY(double, sites);
  CONSTANT_ARRAY(int, first_site);
  CONSTANT_ARRAY(double, block_headers);
  ARRAY(double, partials);
  const int count = first_site[candidates];
  const int first = (int)get_global_id(0) * SITES_PER_ITEM;
  if (first >= count) return;
  const PairReals reals = pair_reals(constants);
  real3 position[SITES_PER_ITEM];
  double energies[SITES_PER_ITEM];
  for (int k = 0; k < SITES_PER_ITEM; ++k) energies[k] = 0;
  const int chunk = (int)get_group_id(1);
  const int last_block = min(blocks, (chunk + 1) * blocks_per_chunk);
  for (int block = chunk * blocks_per_chunk; block < last_block; ++block) {
    __global const double *header = block_headers + block * BLOCK_FIELDS;
    __global const real *points =
        (__global const real *)(points_memory + points_offset) + block * 4 * STARPMC_BLOCK_POINTS;
    int care = 0;
    for (int k = 0; k < SITES_PER_ITEM; ++k) {
      const double3 site = site_position(sites, capacity, min(first + k, count - 1));
      const double3 relative = minimum_image(site - block_origin(header), constants);
      position[k] = to_real3(relative);
      care |= care_of(relative, header[BLOCK_RADIUS], constants);
    }
    if (!(care & CARE_REACH)) continue;
    if (care & (CARE_WRAP | CARE_NEAR)) {
      ADD_BLOCK(CAREFUL_DISTANCE, 1)
    } else if (care & CARE_CUT) {
      ADD_BLOCK(PLAIN_DISTANCE, 1)
    } else {
      ADD_BLOCK(PLAIN_DISTANCE, 0)
    }
  }
  for (int k = 0; k < SITES_PER_ITEM && first + k < count; ++k) {
    partials[chunk * capacity + first + k] = energies[k];
  }
}

#endif

/* A work-group per candidate: sum over its sites and all chunks, in a fixed order. */
__kernel GROUP_OF(SUM_GROUP) void qmmm_coulomb_grid_sum(int capacity, int chunks, BUFFER(sites),
                                                        BUFFER(first_site), BUFFER(partials),
                                                        BUFFER(energies)) {
  CONSTANT_ARRAY(double, sites);
  CONSTANT_ARRAY(int, first_site);
  CONSTANT_ARRAY(double, partials);
  ARRAY(double, energies);
  __local double shared[SUM_GROUP];
  const int candidate = (int)get_group_id(0);
  double energy = 0;
  for (int site = first_site[candidate]; site < first_site[candidate + 1]; ++site) {
    double sum = 0;
    for (int chunk = (int)get_local_id(0); chunk < chunks; chunk += SUM_GROUP) {
      sum += partials[chunk * capacity + site];
    }
    energy += sites[3 * capacity + site] * sum;
  }
  energy = group_sum(energy, shared);
  if (get_local_id(0) == 0) energies[candidate] = STARPMC_COULOMB_CONSTANT * energy;
}
