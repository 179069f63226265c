/* What a device computes side by side in one item: a CPU's vector register, or one value on a GPU. */
#ifndef STARPMC_OPENCL_LANES_H
#define STARPMC_OPENCL_LANES_H

#include "opencl/compact_block.h"

/* Where the user's functions are part of the energies of two MM molecules, and whether those that
   are not near take them in the precision of the pair terms. */
#define USER_MM (STARPMC_USER_COULOMB || STARPMC_USER_MM)
#define USER_MM_IN_LANES (USER_MM && (STARPMC_USER_MM_AS_PAIRS || !STARPMC_SINGLE))

#if STARPMC_CPU_DEVICE

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

/* 1/sqrt(r2). CPUs divide and take roots slowly: it starts from an estimate. */
#if STARPMC_SINGLE && defined(__clang__) && defined(__AVX512F__)

/* 14 bits; Newton's step y (1 + h/2), h = 1 - r2 y^2. */
static inline lanes estimate_of_reciprocal_square_root(lanes r2) {
  typedef float vector __attribute__((vector_size(64)));
  return __builtin_astype(
      __builtin_ia32_rsqrt14ps512_mask(__builtin_astype(r2, vector), __builtin_astype(r2, vector),
                                       0xFFFF),
      lanes);
}
static inline lanes lanes_reciprocal_square_root(lanes r2) {
  const lanes y = estimate_of_reciprocal_square_root(r2);
  return ((real)0.5 * y) * ((real)1 - (r2 * y) * y) + y;
}

#if !STARPMC_USER_GRID
/* 1/r + r/rc^2 - 2/rc, ENERGY_FACTOR times: Newton's step multiplies the estimate y and the r of it
   by one and the same correction, (3 - r y)/2. */
#define ENERGY_FACTOR 2
static inline lanes lanes_energy(lanes r2, GridReals reals) {
  const lanes y = estimate_of_reciprocal_square_root(r2);
  const lanes r = r2 * y;
  return (reals.inverse_square * r + y) * ((real)3 - r * y) - (real)2 * reals.twice_inverse;
}
#endif

#else

/* From the bits of exponent and mantissa (3.5 %), by third-order steps y (1 + h (1/2 + 3/8 h)), and
   one of Newton's. */
#define REFINE_THIRD_ORDER(y)                        \
  {                                                  \
    const lanes h = (real)1 - (r2 * y) * y;          \
    y = (y * h) * ((real)0.375 * h + (real)0.5) + y; \
  }
static inline lanes lanes_reciprocal_square_root(lanes r2) {
#if STARPMC_SINGLE
  lanes y = as_float16(0x5F375A86 - (as_int16(r2) >> 1));
#else
  lanes y = as_double8(0x5FE6EB50C7B537A9L - (as_long8(r2) >> 1));
  REFINE_THIRD_ORDER(y)
#endif
  REFINE_THIRD_ORDER(y)
  return ((real)0.5 * y) * ((real)1 - (r2 * y) * y) + y;
}

#endif

static inline lanes lanes_root_of_square(lanes r2) {
  const lanes inverse = lanes_reciprocal_square_root(r2);
  const lanes r = r2 * inverse;
  return ((real)0.5 * r) * ((real)1 - r * inverse) + r;
}
static inline lanes lanes_reciprocal_of_square(lanes r2) {
  const lanes inverse = lanes_reciprocal_square_root(r2);
  return inverse * inverse;
}

#else

#define LANES 1
typedef real lanes;
#define lanes_reciprocal_square_root(r2) reciprocal_square_root(r2)
#define lanes_root_of_square(r2) root_of_square(r2)
#define lanes_reciprocal_of_square(r2) reciprocal_of_square(r2)

#endif

#ifndef ENERGY_FACTOR
#define ENERGY_FACTOR 1
#if !STARPMC_USER_GRID /* else the host puts the user's function behind this file */
/* 1/r + r/rc^2 - 2/rc as (1 + r2/rc^2) / r - 2/rc. */
static inline lanes lanes_energy(lanes r2, GridReals reals) {
  const lanes growth = fma((lanes)(reals.inverse_square), r2, (lanes)(1));
  return fma(growth, lanes_reciprocal_square_root(r2), (lanes)(-reals.twice_inverse));
}
#endif
#endif

#endif
