/* The grid term on a CPU: an item is a thread of its own, its lanes run over the points of a block
   in the first-level cache, past SITES_PER_ITEM entries in registers. */
#ifndef STARPMC_OPENCL_GRID_LANES_H
#define STARPMC_OPENCL_GRID_LANES_H

#include "opencl/compact_block.h"

/* Values side by side in a vector register. */
#if STARPMC_SINGLE
#define LANES 16
typedef float16 lanes;
#if STARPMC_FIXED
typedef uint16 coordinate_lanes;
#else
typedef float16 coordinate_lanes;
#endif
#define load_lanes(from) vload16(0, (__global const coordinate_value *)(from))
#define load_real_lanes(from) vload16(0, from)
#define store_real_lanes(values, to) vstore16(values, 0, to)
#define convert_lanes(differences) convert_float16(as_int16(differences))
#define charge_lanes(stored) as_float16(stored)
#else
#define LANES 8
typedef double8 lanes;
typedef double8 coordinate_lanes;
#define load_lanes(from) vload8(0, from)
#define load_real_lanes(from) vload8(0, from)
#define store_real_lanes(values, to) vstore8(values, 0, to)
#define charge_lanes(stored) (stored)
#endif

static inline double sum_of_lanes(lanes values) {
#if STARPMC_SINGLE
  const double8 halves = convert_double8(values.lo) + convert_double8(values.hi);
#else
  const double8 halves = values;
#endif
  const double4 quarters = halves.lo + halves.hi;
  return (quarters.x + quarters.y) + (quarters.z + quarters.w);
}

/* 1/r + r/rc^2 - 2/rc, ENERGY_FACTOR times. CPUs divide and take roots slowly: 1/sqrt(r2) starts
   from an estimate. */
#if STARPMC_SINGLE && defined(__clang__) && defined(__AVX512F__)

/* AVX-512 estimates 14 bits; Newton's step multiplies the estimate y and the r of it by one and the
   same correction, (3 - r y)/2. */
#define ENERGY_FACTOR 2
static inline lanes lanes_energy(lanes r2, GridReals reals) {
  typedef float vector __attribute__((vector_size(64)));
  const lanes y = __builtin_astype(
      __builtin_ia32_rsqrt14ps512_mask(__builtin_astype(r2, vector), __builtin_astype(r2, vector),
                                       0xFFFF),
      lanes);
  const lanes r = r2 * y;
  return (reals.inverse_square * r + y) * ((real)3 - r * y) - (real)2 * reals.twice_inverse;
}

#else

/* From the bits of exponent and mantissa (3.5 %), by third-order steps y (1 + h (1/2 + 3/8 h)),
   h = 1 - r2 y^2, and one of Newton's, y (1 + h/2). */
#define ENERGY_FACTOR 1
#define REFINE_THIRD_ORDER(y)                        \
  {                                                  \
    const lanes h = (real)1 - (r2 * y) * y;          \
    y = (y * h) * ((real)0.375 * h + (real)0.5) + y; \
  }
static inline lanes lanes_energy(lanes r2, GridReals reals) {
#if STARPMC_SINGLE
  lanes y = as_float16(0x5F375A86 - (as_int16(r2) >> 1));
#else
  lanes y = as_double8(0x5FE6EB50C7B537A9L - (as_long8(r2) >> 1));
  REFINE_THIRD_ORDER(y)
#endif
  REFINE_THIRD_ORDER(y)
  y = ((real)0.5 * y) * ((real)1 - (r2 * y) * y) + y;
  return (reals.inverse_square * r2 + (real)1) * y - reals.twice_inverse;
}

#endif

/* Adds the energies of at most SITES_PER_ITEM entries with a block. `cut`: points may lie beyond
   the cutoff, or too near. */
static inline void add_block(int cut, GridReals reals, PairConstants constants,
                             const uint *entries, int count, __global const double *sites,
                             int capacity, __global const double *header,
                             __global const coordinate *points, __global double *partials) {
  place position[SITES_PER_ITEM];
  lanes sums[SITES_PER_ITEM];
  for (int k = 0; k < SITES_PER_ITEM; ++k) {
    position[k] = entry_place(entries[min(k, count - 1)], sites, capacity, header, constants);
    sums[k] = (lanes)(0);
  }
  for (int j = 0; j < STARPMC_BLOCK_POINTS; j += LANES) {
    const coordinate_lanes x = load_lanes(points + j);
    const coordinate_lanes y = load_lanes(points + STARPMC_BLOCK_POINTS + j);
    const coordinate_lanes z = load_lanes(points + 2 * STARPMC_BLOCK_POINTS + j);
    const lanes charge = charge_lanes(load_lanes(points + 3 * STARPMC_BLOCK_POINTS + j));
    _Pragma("unroll") for (int k = 0; k < SITES_PER_ITEM; ++k) {
      SEPARATION(lanes, position[k].x - x, position[k].y - y, position[k].z - z)
      lanes r2 = dx * dx + (dy * dy + dz * dz);
      if (cut) r2 = fmax(r2, (lanes)(reals.least_squared));
      const lanes sum = charge * lanes_energy(r2, reals) + sums[k];
      sums[k] = cut ? (r2 < (lanes)(reals.cutoff_squared) ? sum : sums[k]) : sum;
    }
  }
  for (int k = 0; k < count; ++k) {
    partials[SITE_OF(entries[k])] += sum_of_lanes(sums[k]) * (1.0 / ENERGY_FACTOR);
  }
}

/* The nearest images of LANES sites, relative to a block's origin, and their squared distances. */
static inline void nearest_images(__global const real *rounded, int capacity, int first,
                                  BlockView block, PairReals box, real3 *nearest, real *squared) {
  const lanes x = load_real_lanes(rounded + first) - block.x;
  const lanes y = load_real_lanes(rounded + capacity + first) - block.y;
  const lanes z = load_real_lanes(rounded + 2 * capacity + first) - block.z;
  const lanes dx = MINIMUM_IMAGE(x, box.box_x, box.inverse_x);
  const lanes dy = MINIMUM_IMAGE(y, box.box_y, box.inverse_y);
  const lanes dz = MINIMUM_IMAGE(z, box.box_z, box.inverse_z);
  store_real_lanes(dx * dx + (dy * dy + dz * dz), squared);
  if (!block.images) return;
  real components[3][LANES];
  store_real_lanes(dx, components[0]);
  store_real_lanes(dy, components[1]);
  store_real_lanes(dz, components[2]);
  for (int lane = 0; lane < LANES; ++lane) {
    nearest[lane] = (real3)(components[0][lane], components[1][lane], components[2][lane]);
  }
}

/* Entries that wait until there are SITES_PER_ITEM of them. */
#define QUEUE (SITES_PER_ITEM + IMAGES * LANES)

typedef struct {
  uint inside[QUEUE];
  uint cut[QUEUE];
  int inside_count;
  int cut_count;
} Queues;

/* Queues those of LANES sites, and of their images, that are in reach. */
static inline void queue_entries(Queues *queues, __global const real *rounded, int capacity,
                                 int first, BlockView block, PairReals box) {
  real3 nearest[LANES];
  real squared[LANES];
  nearest_images(rounded, capacity, first, block, box, nearest, squared);
  for (int lane = 0; lane < LANES; ++lane) {
    const int in_reach = squared[lane] < block.reach;
    const int inside = squared[lane] < block.inside && !(squared[lane] < block.close);
    queues->inside[queues->inside_count] = ENTRY(first + lane, 0);
    queues->inside_count += inside;
    queues->cut[queues->cut_count] = ENTRY(first + lane, 0);
    queues->cut_count += in_reach && !inside;
    if (!block.images || inside || !in_reach) continue;
    for (uint axes = 1; axes < IMAGES; ++axes) {
      queues->cut[queues->cut_count] = ENTRY(first + lane, axes);
      queues->cut_count += image_distance_squared(nearest[lane], axes, box) < block.reach;
    }
  }
}

#endif
