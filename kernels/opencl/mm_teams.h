/* MM pairs on a GPU: the items of a work-group share the molecules that an entry meets. */
#ifndef STARPMC_OPENCL_MM_TEAMS_H
#define STARPMC_OPENCL_MM_TEAMS_H

#include "opencl/molecule_pair.h"
#include "opencl/neighbour_list.h"
#include "opencl/reduction.h"

#if !STARPMC_CPU_DEVICE

static inline lattice_place place_of_lattice_site(__global const coordinate *lattice_sites,
                                                  int stride, int molecule, int site) {
  __global const coordinate *place = lattice_sites + 3 * site * stride + molecule;
  return (lattice_place)(place[0], place[stride], place[2 * stride]);
}

/* Energy of an entry with a molecule of the lattice. */
static inline PairEnergy lattice_pair_energy(
    TopologyShape topology, __global const double *topology_reals,
    __global const int *topology_integers, PairConstants constants,
    __local const TargetSite *sites, int type, double3 centre, int near, int images, int stride,
    __global const double *lattice, __global const coordinate *lattice_sites, int other) {
  const PairReals reals = pair_reals(constants);
  const double3 other_centre =
      (double3)(lattice[other], lattice[stride + other], lattice[2 * stride + other]);
  const PairPlace pair = {minimum_image(other_centre - centre, constants), near, images};
  const int other_type = topology_integers[other];
  MoleculePair energy = {{0, 0}, {0, 0}};
  for (int j = 0; j < site_count(topology, topology_integers, other_type); ++j) {
    const double charge = site_charge(topology, topology_reals, other_type, j);
    const lattice_place place = place_of_lattice_site(lattice_sites, stride, other, j);
    const int type_j = site_type(topology, topology_integers, other_type, j);
    for (int i = 0; i < site_count(topology, topology_integers, type); ++i) {
      const int type_i = site_type(topology, topology_integers, type, i);
      add_sites(sites[i].place, place, sites[i].charge * charge,
                topology_reals + topology_pair(topology, type_i, type_j), pair, constants, reals,
                &energy);
    }
  }
  return (PairEnergy){coulomb_of(energy), vdw_of(energy)};
}

/* Energy of two entries of different molecules. */
static inline PairEnergy entry_pair_energy(WindowShape window, PairConstants constants,
                                           __global const double *topology_reals,
                                           __global const int *topology_integers,
                                           __global const double *entries, int entry_i, int type_i,
                                           int entry_j, int type_j) {
  const TopologyShape topology = window.topology;
  const PairReals reals = pair_reals(constants);
  const double reach = molecule_reach(topology, topology_reals, topology_integers, constants);
  const double3 offset = minimum_image(
      entry_centre(window, entries, entry_j) - entry_centre(window, entries, entry_i), constants);
  const double squared = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
  const PairPlace pair = {
      offset, STARPMC_SINGLE && squared < STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE,
      reach > constants.half_shortest_edge};
  MoleculePair energy = {{0, 0}, {0, 0}};
  if (squared < reach * reach) {
    for (int j = 0; j < site_count(topology, topology_integers, type_j); ++j) {
      const lattice_place place = AS_LATTICE_PLACE(
          place_of_entry_site(window, entries, entry_j, j, constants));
      const double charge_j = site_charge(topology, topology_reals, type_j, j);
      for (int i = 0; i < site_count(topology, topology_integers, type_i); ++i) {
        const TargetSite site =
            target_site(window, topology_reals, entries, entry_i, type_i, i, constants);
        add_sites(site.place, place, site.charge * charge_j,
                  topology_reals +
                      topology_pair(topology, site_type(topology, topology_integers, type_i, i),
                                    site_type(topology, topology_integers, type_j, j)),
                  pair, constants, reals, &energy);
      }
    }
  }
  return (PairEnergy){coulomb_of(energy), vdw_of(energy)};
}

#endif

#endif
