/* Exact energies of two sites, built-in or by functions of the user's, which the host has put in
   front (user_functions.cpp). */
#ifndef STARPMC_OPENCL_EXACT_TERMS_H
#define STARPMC_OPENCL_EXACT_TERMS_H

#include "opencl/moves.h"
#include "opencl/window.h"

#define USER_MM (STARPMC_USER_COULOMB || STARPMC_USER_MM)
#define USER_NUCLEI (STARPMC_USER_COULOMB || STARPMC_USER_QMMM)

/* charge: product of the charges, times the Coulomb constant */
static inline double exact_pair_coulomb(double r2, double charge, double cutoff_squared,
                                        double inverse_cutoff) {
#if STARPMC_USER_COULOMB
  if (charge == 0 || !(r2 < cutoff_squared)) return 0;
  return charge * exact_user_coulomb_at(r2);
#else
  return exact_coulomb(r2, charge, cutoff_squared, inverse_cutoff);
#endif
}

/* pair: what the pair of site types has (PairLayout) */
static inline double exact_mm_vdw(double r2, __global const double *pair, PairLayout layout,
                                  double cutoff_squared) {
  /* Most pairs of a water have none, and fp64 is what an exact change takes its time for. */
  const int is_none = pair[0] == 0 && pair[1] == 0 && pair[2] == 0 && pair[3] == 0;
  const double built_in =
      is_none ? 0.0
              : exact_lennard_jones(r2, pair[0], pair[1], pair[2], pair[3], cutoff_squared);
#if STARPMC_USER_MM
  if (r2 < cutoff_squared && pair[layout.mm_function] != 0) {
    return built_in + exact_user_mm_at(r2, pair + layout.mm_function + 1);
  }
#endif
  return built_in;
}

static inline double exact_qmmm_vdw(double r2, __global const double *pair, PairLayout layout,
                                    double cutoff_squared) {
  __global const double *c = pair + layout.qmmm;
  const double built_in = exact_lennard_jones(r2, c[0], c[1], c[2], c[3], cutoff_squared);
#if STARPMC_USER_QMMM
  if (r2 < cutoff_squared && pair[layout.qmmm_function] != 0) {
    return built_in + exact_user_qmmm_at(r2, pair + layout.qmmm_function + 1);
  }
#endif
  return built_in;
}

/* Units of an energy of two molecules, or of a molecule and a nucleus. */
#define UNITS_OF_MOLECULES(energy) \
  exact_units(USER_MM ? limited_user_energy(energy) : limited_pair_energy(energy))
#define UNITS_OF_NUCLEUS(energy) exact_units(USER_NUCLEI ? limited_user_energy(energy) : (energy))

#endif
