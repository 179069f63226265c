/* Sites as seen from one compact block of grid points. */
#ifndef STARPMC_OPENCL_COMPACT_BLOCK_H
#define STARPMC_OPENCL_COMPACT_BLOCK_H

#include "opencl/pair_functions.h"

/* Wider than the rounding of an fp32 distance inside any box. */
#define BLOCK_MARGIN 1e-3

#define CARE_REACH 1 /* some point may lie inside the cutoff */
#define CARE_CUT 2   /* some point may lie outside it */
#define CARE_WRAP 4  /* some point may be nearer through another image */
#define CARE_NEAR 8  /* some point may be nearer than the minimum distance */

static inline double3 site_position(__global const double *sites, int capacity, int index) {
  return (double3)(sites[index], sites[capacity + index], sites[2 * capacity + index]);
}

static inline double3 block_origin(__global const double *header) {
  return (double3)(header[BLOCK_ORIGIN], header[BLOCK_ORIGIN + 1], header[BLOCK_ORIGIN + 2]);
}

/* How careful the pair sum of a site, given relative to the block's origin, must be. A site out of
   reach only asks that sites summed together with it do not leave out the cutoff. */
static inline int care_of(double3 relative, double radius, PairConstants constants) {
  const double squared =
      relative.x * relative.x + (relative.y * relative.y + relative.z * relative.z);
  const double reach = constants.coulomb_cutoff + radius + BLOCK_MARGIN;
  if (!(squared < reach * reach)) return CARE_CUT;
  const double inside = fmax(0.0, constants.coulomb_cutoff - radius - BLOCK_MARGIN);
  const double near = radius + 0.02;
  int care = CARE_REACH;
  if (!(squared < inside * inside)) care |= CARE_CUT;
  if (squared < near * near) care |= CARE_NEAR;
  /* Another image is nearer only where half an edge lies between the site and a point. */
  const double margin = radius + BLOCK_MARGIN;
  if (reach > constants.half_shortest_edge &&
      (fabs(relative.x) + margin > 0.5 * constants.box[0] ||
       fabs(relative.y) + margin > 0.5 * constants.box[1] ||
       fabs(relative.z) + margin > 0.5 * constants.box[2])) {
    care |= CARE_WRAP;
  }
  return care;
}

/* A block's points side by side in local memory; the caller sets the barriers. */
static inline void load_tile(__global const real *points, __local real4 *tile, int group) {
  for (int j = (int)get_local_id(0); j < STARPMC_BLOCK_POINTS; j += group) {
    tile[j] = (real4)(points[j], points[STARPMC_BLOCK_POINTS + j],
                      points[2 * STARPMC_BLOCK_POINTS + j], points[3 * STARPMC_BLOCK_POINTS + j]);
  }
}

#if STARPMC_CPU_DEVICE

/* Values side by side in a vector register. */
#if STARPMC_SINGLE
#define LANES 16
typedef float16 lanes;
typedef double16 wide_lanes;
#define load_lanes(from) vload16(0, from)
#define widen_lanes(values) convert_double16(values)
#define store_wide_lanes(values, to) vstore16(values, 0, to)
#else
#define LANES 8
typedef double8 lanes;
typedef double8 wide_lanes;
#define load_lanes(from) vload8(0, from)
#define widen_lanes(values) (values)
#define store_wide_lanes(values, to) vstore8(values, 0, to)
#endif

/* 1/sqrt(r2): an estimate, refined by the third-order step y (1 + h (1/2 + 3/8 h)), h = 1 - r2 y^2,
   and by Newton's y (1 + h/2). CPUs divide and take roots slowly; compilers that are Clang know the
   estimate of AVX-512 (14 bits), else it comes from the bits of exponent and mantissa (3.5 %). */
#define REFINE_THIRD_ORDER(y)                        \
  {                                                  \
    const lanes h = (real)1 - (r2 * y) * y;          \
    y = (y * h) * ((real)0.375 * h + (real)0.5) + y; \
  }
#define REFINE_SECOND_ORDER(y) y = ((real)0.5 * y) * ((real)1 - (r2 * y) * y) + y;

static inline lanes lanes_reciprocal_square_root(lanes r2) {
#if STARPMC_SINGLE && defined(__clang__) && defined(__AVX512F__)
  typedef float vector __attribute__((vector_size(64)));
  const vector estimate = __builtin_ia32_rsqrt14ps512_mask(__builtin_astype(r2, vector),
                                                           __builtin_astype(r2, vector), 0xFFFF);
  lanes y = __builtin_astype(estimate, lanes);
  REFINE_SECOND_ORDER(y)
#elif STARPMC_SINGLE
  lanes y = as_float16(0x5F375A86 - (as_int16(r2) >> 1));
  REFINE_THIRD_ORDER(y)
  REFINE_SECOND_ORDER(y)
#else
  lanes y = as_double8(0x5FE6EB50C7B537A9L - (as_long8(r2) >> 1));
  REFINE_THIRD_ORDER(y)
  REFINE_THIRD_ORDER(y)
  REFINE_SECOND_ORDER(y)
#endif
  return y;
}

static inline double sum_of_lanes(lanes values) {
#if STARPMC_SINGLE
  const double8 halves = convert_double8(values.lo) + convert_double8(values.hi);
#else
  const double8 halves = values;
#endif
  const double4 quarters = halves.lo + halves.hi;
  return (quarters.x + quarters.y) + (quarters.z + quarters.w);
}

#else

/* A GPU's lanes are its work-items. */
#define LANES 1
typedef real lanes;
typedef double wide_lanes;
#define load_lanes(from) (*(from))
#define widen_lanes(values) ((double)(values))
#define store_wide_lanes(values, to) (*(to) = (values))
#define lanes_reciprocal_square_root(r2) reciprocal_square_root(r2)

#endif

#endif
