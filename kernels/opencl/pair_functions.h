/* Pair energies (equations beside kernels/scalar/pair_functions.hpp). The macros serve one value
   and vectors of values alike. Multiply-adds may be fused here: no position or decision is computed
   by these functions. */
#ifndef STARPMC_OPENCL_PAIR_FUNCTIONS_H
#define STARPMC_OPENCL_PAIR_FUNCTIONS_H

#include "opencl/portable.h"
#include "opencl/kernel_arguments.h"

#pragma OPENCL FP_CONTRACT ON

/* Adding and subtracting 1.5 * 2^(mantissa bits) rounds to the nearest integer. */
#if STARPMC_SINGLE
#define ROUNDING_CONSTANT 12582912.0f
#else
#define ROUNDING_CONSTANT 6755399441055744.0
#endif

/* The constants of the pair functions in the precision of the pair terms. */
typedef struct {
  real box_x, box_y, box_z;
  real inverse_x, inverse_y, inverse_z;
  real unit_x, unit_y, unit_z; /* of fixed coordinates */
  real cutoff_squared;
  real inverse_square;
  real inverse;
  real twice_inverse;
  real vdw_cutoff_squared;
} PairReals;

static inline PairReals pair_reals(PairConstants constants) {
  PairReals reals;
  reals.box_x = (real)constants.box[0];
  reals.box_y = (real)constants.box[1];
  reals.box_z = (real)constants.box[2];
  reals.inverse_x = (real)constants.inverse_box[0];
  reals.inverse_y = (real)constants.inverse_box[1];
  reals.inverse_z = (real)constants.inverse_box[2];
  reals.unit_x = (real)fixed_unit(constants.box[0]);
  reals.unit_y = (real)fixed_unit(constants.box[1]);
  reals.unit_z = (real)fixed_unit(constants.box[2]);
  reals.cutoff_squared = (real)constants.coulomb_cutoff_squared;
  reals.inverse_square = (real)constants.inverse_square;
  reals.inverse = (real)(0.5 * constants.twice_inverse);
  reals.twice_inverse = (real)constants.twice_inverse;
  reals.vdw_cutoff_squared = (real)constants.vdw_cutoff_squared;
  return reals;
}

/* Displacement's periodic image of least length, in fp64. */
static inline double3 minimum_image(double3 d, PairConstants constants) {
  return (double3)(d.x - constants.box[0] * rint(d.x * constants.inverse_box[0]),
                   d.y - constants.box[1] * rint(d.y * constants.inverse_box[1]),
                   d.z - constants.box[2] * rint(d.z * constants.inverse_box[2]));
}

static inline real3 to_real3(double3 d) { return (real3)((real)d.x, (real)d.y, (real)d.z); }

/* The same in the precision of the pair terms. */
#define MINIMUM_IMAGE(d, length, inverse) \
  ((d) - (length) * (((d) * (inverse) + ROUNDING_CONSTANT) - ROUNDING_CONSTANT))

#define AT_LEAST_MINIMUM_DISTANCE(r2) \
  ((r2) < (real)STARPMC_MINIMUM_DISTANCE_SQUARED ? (real)STARPMC_MINIMUM_DISTANCE_SQUARED : (r2))

/* 1/sqrt(r2). In fp64 a GPU's fp32 function (2 units in the last place by the standard) starts the
   third-order step y (1 + h (1/2 + 3/8 h)), h = 1 - r2 y^2, which leaves an error below 1e-19. */
static inline real reciprocal_square_root(real r2) {
#if STARPMC_CPU_DEVICE
  return (real)1 / sqrt(r2);
#elif STARPMC_SINGLE
  return rsqrt(r2);
#else
  const double y = (double)rsqrt((float)r2);
  const double h = fma(-(r2 * y), y, 1.0);
  return fma(y * h, fma(0.375, h, 0.5), y);
#endif
}

/* The same in fp64 whatever the precision. */
static inline double wide_reciprocal_square_root(double r2) {
#if STARPMC_CPU_DEVICE
  return 1.0 / sqrt(r2);
#else
  const double y = (double)rsqrt((float)r2);
  const double h = fma(-(r2 * y), y, 1.0);
  return fma(y * h, fma(0.375, h, 0.5), y);
#endif
}

/* Of squared distances, beside their 1/r: r is refined, for r2 times the rounded 1/r would be biased
   from binade to binade. */
#if STARPMC_CPU_DEVICE
#define DEFINE_ROOTS(TYPE, ROOT, RECIPROCAL, INVERSE_ROOT)       \
  static inline TYPE ROOT(TYPE r2) { return sqrt(r2); }          \
  static inline TYPE RECIPROCAL(TYPE r2) { return (TYPE)1 / r2; }
#else
#define DEFINE_ROOTS(TYPE, ROOT, RECIPROCAL, INVERSE_ROOT)           \
  static inline TYPE ROOT(TYPE r2) {                                 \
    const TYPE inverse = INVERSE_ROOT(r2);                           \
    const TYPE r = r2 * inverse;                                     \
    return fma((TYPE)0.5 * r, fma(-r, inverse, (TYPE)1), r);         \
  }                                                                  \
  static inline TYPE RECIPROCAL(TYPE r2) {                           \
    const TYPE inverse = INVERSE_ROOT(r2);                           \
    return inverse * inverse;                                        \
  }
#endif
DEFINE_ROOTS(real, root_of_square, reciprocal_of_square, reciprocal_square_root)
DEFINE_ROOTS(double, wide_root_of_square, wide_reciprocal_of_square, wide_reciprocal_square_root)

/* (1 - r/rc)^2 / r inside the cutoff: its rounding error shrinks with the energy. r is refined beside
   1/r, for r2 times the rounded 1/r would be biased from binade to binade. */
static inline real coulomb_within(PairReals reals, real r2, real inverse_r) {
  real r = r2 * inverse_r;
  r = fma((real)0.5 * r, fma(-r, inverse_r, (real)1), r);
  const real remaining = fmax(fma(-r, reals.inverse, (real)1), (real)0);
  return inverse_r * remaining * remaining;
}

typedef struct {
  double coulomb;
  double vdw;
} PairEnergy;

/* In the precision of the pair terms. */
typedef struct {
  real coulomb;
  real vdw;
} QuickPairEnergy;

/* Adds the energy of one pair of sites. Coulomb energies vanish beyond the cutoff by themselves, and
   without branches pairs overlap.
   charge: product of the charges, times the Coulomb constant; coefficients: c12, c6, shift, slope,
   where they may be other than 0 (has_vdw) */
static inline void add_site_pair(PairReals reals, real r2, real charge, int has_vdw,
                                 __global const double *coefficients, QuickPairEnergy *sum) {
  const real inverse_r = reciprocal_square_root(r2);
  sum->coulomb += charge * coulomb_within(reals, r2, inverse_r);
  if (!has_vdw || (coefficients[0] == 0 && coefficients[1] == 0)) return;
  const real inverse2 = inverse_r * inverse_r;
  const real inverse6 = inverse2 * inverse2 * inverse2;
  const real vdw = ((real)coefficients[0] * inverse6 - (real)coefficients[1]) * inverse6 +
                   ((real)coefficients[3] * (r2 * inverse_r) + (real)coefficients[2]);
  sum->vdw += r2 < reals.vdw_cutoff_squared ? vdw : (real)0;
}

/* The same in fp64 whatever the precision: for near molecules and nuclei (STARPMC_NEAR_DISTANCE). */
static inline void add_site_pair_wide(PairConstants constants, double r2, double charge,
                                      __global const double *coefficients, PairEnergy *sum) {
  if (!(r2 < constants.coulomb_cutoff_squared || r2 < constants.vdw_cutoff_squared)) return;
  const double r = sqrt(r2);
  const double remaining = 1.0 - 0.5 * constants.twice_inverse * r;
  if (r2 < constants.coulomb_cutoff_squared) sum->coulomb += charge * remaining * remaining / r;
  if (r2 < constants.vdw_cutoff_squared) {
    const double inverse2 = 1.0 / r2;
    const double inverse6 = inverse2 * inverse2 * inverse2;
    sum->vdw += (coefficients[0] * inverse6 - coefficients[1]) * inverse6 +
                (coefficients[3] * r + coefficients[2]);
  }
}

/* Squared distance to the nearest image, at least the minimum. */
static inline double wide_distance_squared(double3 displacement, PairConstants constants) {
  const double3 d = minimum_image(displacement, constants);
  return fmax(d.x * d.x + (d.y * d.y + d.z * d.z), STARPMC_MINIMUM_DISTANCE_SQUARED);
}

#endif
