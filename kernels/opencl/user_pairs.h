/* Pair energies with functions of the user's, which the host has put in front (user_functions.cpp).
 */
#ifndef STARPMC_OPENCL_USER_PAIRS_H
#define STARPMC_OPENCL_USER_PAIRS_H

#include "opencl/lanes.h"
#include "opencl/pair_functions.h"
#include "opencl/window.h"

/* Where the user's functions are part of the energies of an MM molecule with the nuclei. */
#define USER_NUCLEI (STARPMC_USER_COULOMB || STARPMC_USER_QMMM)

/* charge: product of the charges, times the Coulomb constant */
static inline double user_pair_coulomb(PairConstants constants, double r2, double charge) {
  if (!(r2 < constants.coulomb_cutoff_squared) || charge == 0) return 0;
#if STARPMC_USER_COULOMB
  return charge * user_coulomb(r2);
#else
  const double r = sqrt(r2);
  const double remaining = 1.0 - 0.5 * constants.twice_inverse * r;
  return charge * remaining * remaining / r;
#endif
}

static inline double built_in_vdw(double r2, __global const double *c) {
  if (c[0] == 0 && c[1] == 0) return 0;
  const double inverse2 = 1.0 / r2;
  const double inverse6 = inverse2 * inverse2 * inverse2;
  return (c[0] * inverse6 - c[1]) * inverse6 + (c[3] * sqrt(r2) + c[2]);
}

#if USER_MM_IN_LANES && !STARPMC_CPU_DEVICE
/* add_site_pair() with functions of the user's. Without branches on distances, pairs overlap.
   cutoff_squared: of the Coulomb energy, 0 without charges; pair: what the pair of their types has
   (PairLayout), where there may be anything (has_vdw) */
static inline void add_user_site_pair(PairReals reals, real cutoff_squared, PairLayout layout,
                                      real r2, real charge, int has_vdw,
                                      __global const double *pair, QuickPairEnergy *sum) {
#if STARPMC_USER_COULOMB
  const real coulomb = fma(charge, lanes_user_coulomb(r2), sum->coulomb);
  sum->coulomb = r2 < cutoff_squared ? coulomb : sum->coulomb;
  const int built_in = has_vdw && (pair[0] != 0 || pair[1] != 0);
  if (built_in) add_site_pair(reals, r2, 0, 1, pair, sum);
#else
  add_site_pair(reals, r2, charge, has_vdw, pair, sum);
#endif
#if STARPMC_USER_MM
  if (!has_vdw || pair[layout.mm_function] == 0) return;
  const real vdw = lanes_user_mm(r2, pair + layout.mm_function + 1);
  sum->vdw += r2 < reals.vdw_cutoff_squared ? vdw : (real)0;
#endif
}
#endif

/* Of two sites of MM molecules, in fp64; pair: what the pair of their types has (PairLayout). */
static inline void add_user_mm_pair(PairConstants constants, PairLayout layout, double r2,
                                    double charge, __global const double *pair, PairEnergy *sum) {
  sum->coulomb += user_pair_coulomb(constants, r2, charge);
  if (!(r2 < constants.vdw_cutoff_squared)) return;
  sum->vdw += built_in_vdw(r2, pair);
#if STARPMC_USER_MM
  if (pair[layout.mm_function] != 0) sum->vdw += user_mm(r2, pair + layout.mm_function + 1);
#endif
}

/* Of a site of an MM molecule and a nucleus. */
static inline void add_user_nucleus_pair(PairConstants constants, PairLayout layout, double r2,
                                         double charge, __global const double *pair,
                                         PairEnergy *sum) {
  sum->coulomb += limited_user_energy(user_pair_coulomb(constants, r2, charge));
  if (!(r2 < constants.vdw_cutoff_squared)) return;
  double vdw = built_in_vdw(r2, pair + layout.qmmm);
#if STARPMC_USER_QMMM
  if (pair[layout.qmmm_function] != 0) vdw += user_qmmm(r2, pair + layout.qmmm_function + 1);
#endif
  sum->vdw += limited_user_energy(vdw);
}

#endif
