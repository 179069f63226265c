#include "opencl/pair_functions.h"
#include "opencl/reduction.h"
#include "opencl/window.h"

/* A work-group per candidate, its items share the pairs of site and nucleus; in fp64 whatever the
   precision (STARPMC_NEAR_DISTANCE says why). */
__kernel GROUP_OF(SUM_GROUP) void qmmm_nuclei_vdw(WindowShape window, PairConstants constants,
                                                  int nuclei, BUFFER(topology_reals),
                                                  BUFFER(topology_integers), BUFFER(plan),
                                                  BUFFER(entries), BUFFER(solute),
                                                  BUFFER(energies)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, solute);
  ARRAY(double, energies);
  __local double shared[SUM_GROUP];
  const TopologyShape topology = window.topology;
  const int candidate = (int)get_group_id(0);
  const int type = topology_integers[molecule_of_candidate(window, plan, candidate)];
  const int pairs = site_count(topology, topology_integers, type) * nuclei;
  const double3 centre = entry_centre(window, entries, candidate);
  PairEnergy energy = {0, 0};
  for (int pair = (int)get_local_id(0); pair < pairs; pair += SUM_GROUP) {
    const int site = pair / nuclei;
    const int nucleus = pair - site * nuclei;
    const double3 nucleus_position =
        (double3)(solute[nucleus], solute[nuclei + nucleus], solute[2 * nuclei + nucleus]);
    const double3 position = centre + entry_displacement(window, entries, candidate, site);
    const double charges = site_charge(topology, topology_reals, type, site) *
                           solute[3 * nuclei + nucleus];
    const int nucleus_type = (int)solute[4 * nuclei + nucleus];
    add_site_pair_wide(
        constants, wide_distance_squared(position - nucleus_position, constants), charges,
        topology_reals + topology_pair(topology,
                                       site_type(topology, topology_integers, type, site),
                                       nucleus_type),
        &energy);
  }
  const double coulomb = group_sum(energy.coulomb, shared);
  const double vdw = group_sum(energy.vdw, shared);
  if (get_local_id(0) == 0) {
    energies[candidate] = STARPMC_COULOMB_CONSTANT * coulomb;
    energies[window.layout.candidates + candidate] = vdw;
  }
}
