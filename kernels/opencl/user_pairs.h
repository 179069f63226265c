/* Pair energies with functions of the user's, which the host has put in front (user_functions.cpp):
   in fp64 in every precision. */
#ifndef STARPMC_OPENCL_USER_PAIRS_H
#define STARPMC_OPENCL_USER_PAIRS_H

#include "opencl/pair_functions.h"
#include "opencl/window.h"

/* Where the user's functions are part of the energies of two MM molecules, of one with the nuclei. */
#define USER_MM (STARPMC_USER_COULOMB || STARPMC_USER_MM)
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

/* Of two sites of MM molecules; pair: what the pair of their types has (PairLayout). */
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
