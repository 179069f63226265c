/* Charged sites of a window's candidates, as the grid term reads them. */
#ifndef STARPMC_OPENCL_CHARGED_SITE_H
#define STARPMC_OPENCL_CHARGED_SITE_H

#include "opencl/window.h"

#define CHARGED_SITE_FIELDS 4 /* fp64: x, y, z, charge; then x, y, z once more as real */

/* Place `index` of `capacity`: a candidate's site. Sites without charge, or beyond a molecule's
   last, are nowhere: their distances compare as false. */
static inline void place_charged_site(WindowShape window, __global const double *topology_reals,
                                      __global const int *topology_integers,
                                      __global const int *plan, __global const double *entries,
                                      int capacity, int index, __global double *sites) {
  const int candidate = index / window.layout.sites;
  const int site = index - candidate * window.layout.sites;
  double charge = 0;
  double3 position = (double3)(NAN, NAN, NAN);
  if (candidate < window.candidates) {
    const int type = topology_integers[molecule_of_candidate(window, plan, candidate)];
    if (site < site_count(window.topology, topology_integers, type)) {
      charge = site_charge(window.topology, topology_reals, type, site);
    }
    if (charge != 0) {
      position = entry_centre(window, entries, candidate) +
                 entry_displacement(window, entries, candidate, site);
    }
  }
  sites[index] = position.x;
  sites[capacity + index] = position.y;
  sites[2 * capacity + index] = position.z;
  sites[3 * capacity + index] = charge;
  __global real *rounded = (__global real *)(sites + CHARGED_SITE_FIELDS * capacity);
  rounded[index] = (real)position.x;
  rounded[capacity + index] = (real)position.y;
  rounded[2 * capacity + index] = (real)position.z;
}

#endif
