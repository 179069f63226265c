/* The static terms of one candidate: its energies with the nuclei. */
#ifndef STARPMC_OPENCL_NUCLEI_VDW_H
#define STARPMC_OPENCL_NUCLEI_VDW_H

#include "opencl/pair_functions.h"
#include "opencl/reduction.h"
#include "opencl/user_pairs.h"
#include "opencl/window.h"

/* The items of a group share the pairs of site and nucleus; in fp64 whatever the precision
   (STARPMC_NEAR_DISTANCE says why). shared: a value per item */
static inline void nuclei_vdw_of_candidate(
    WindowShape window, Interaction interaction, PairConstants constants, int nuclei, int candidate,
    __global const double *topology_reals, __global const int *topology_integers,
    __global const int *plan, __global const double *entries, __global const double *solute,
    __global double *energies, __local double *shared) {
  const TopologyShape topology = window.topology;
  const int type = topology_integers[molecule_of_candidate(window, plan, candidate)];
  const int pairs = site_count(topology, topology_integers, type) * nuclei;
  const double3 centre = entry_centre(window, entries, candidate);
  PairEnergy energy = {0, 0};
  for (int pair = (int)get_local_id(0); pair < pairs; pair += (int)get_local_size(0)) {
    const int site = pair / nuclei;
    const int nucleus = pair - site * nuclei;
    const double3 nucleus_position =
        (double3)(solute[nucleus], solute[nuclei + nucleus], solute[2 * nuclei + nucleus]);
    const double3 position = centre + entry_displacement(window, entries, candidate, site);
    const double charges = site_charge(topology, topology_reals, type, site) *
                           solute[3 * nuclei + nucleus];
    const int nucleus_type = (int)solute[4 * nuclei + nucleus];
    const double r2 = wide_distance_squared(position - nucleus_position, constants);
    __global const double *pair =
        topology_reals +
        topology_pair(topology, site_type(topology, topology_integers, type, site), nucleus_type);
#if USER_NUCLEI
    add_user_nucleus_pair(constants, topology.pairs, r2, STARPMC_COULOMB_CONSTANT * charges, pair,
                          &energy);
#else
    add_site_pair_wide(constants, r2, charges, pair + topology.pairs.qmmm, &energy);
#endif
  }
  const double coulomb = group_sum(energy.coulomb, shared);
  const double vdw = group_sum(energy.vdw, shared);
  if (get_local_id(0) == 0) {
    const int stride = window.layout.candidates;
    energies[FIELD_QMMM_NUCLEI * stride + candidate] =
        USER_NUCLEI ? coulomb : STARPMC_COULOMB_CONSTANT * coulomb;
    energies[FIELD_QMMM_VDW * stride + candidate] = vdw;
  }
}

#endif
