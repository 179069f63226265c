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

/* Local memory of a group that evaluates an entry. */
typedef struct {
  __local TargetSite *sites; /* of the entry */
  __local double *shared;    /* per item */
  __local uint *counts;      /* per item */
  __local ushort *list;      /* LISTED_AT_A_TIME */
} EntryMemory;

/* Energies of an entry with the molecules [first_molecule, last_molecule) outside the window, shared
   by the items of a group. */
static inline void mm_pair_of_entry(
    WindowShape window, PairConstants constants, int entry, int first_molecule, int last_molecule,
    __global const double *topology_reals, __global const int *topology_integers,
    __global const int *plan, __global const double *entries, __global const double *lattice,
    __global const coordinate *lattice_sites, __global const real *outside,
    __global double *energies, EntryMemory memory) {
  const TopologyShape topology = window.topology;
  const int stride = window.layout.molecules;
  const PairReals reals = pair_reals(constants);
  const int type = topology_integers[molecule_of_entry(window, plan, entry)];
  const int count = site_count(topology, topology_integers, type);
  for (int site = (int)get_local_id(0); site < count; site += PAIR_GROUP) {
    memory.sites[site] =
        target_site(window, topology_reals, entries, entry, type, site, constants);
  }
  const double reach = molecule_reach(topology, topology_reals, topology_integers, constants);
  const Search search = {entry_centre(window, entries, entry), (real)(reach * reach),
                         (real)(STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE)};
  PairEnergy sum = {0, 0};
  for (int first = first_molecule; first < last_molecule; first += LISTED_AT_A_TIME) {
    const int last = min(last_molecule, first + LISTED_AT_A_TIME);
    const Listed listed = list_neighbours(search, reals, first, last, stride, lattice, outside,
                                          memory.counts, memory.list);
    for (int k = (int)get_local_id(0); k < listed.far + listed.near; k += PAIR_GROUP) {
      const int other = first + (int)memory.list[k];
      const PairEnergy energy = lattice_pair_energy(
          topology, topology_reals, topology_integers, constants, memory.sites, type,
          search.centre, k >= listed.far, reach > constants.half_shortest_edge, stride, lattice,
          lattice_sites, other);
      sum.coulomb += energy.coulomb;
      sum.vdw += energy.vdw;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const double coulomb = group_sum(sum.coulomb, memory.shared);
  const double vdw = group_sum(sum.vdw, memory.shared);
  if (get_local_id(0) == 0) {
    energies[entry] = coulomb;
    energies[entry_capacity(window.layout) + entry] = vdw;
  }
}

/* Entries i >= j of the table, whose halves are both written. */
static inline void mm_pair_of_entries(WindowShape window, PairConstants constants, int i, int j,
                                      __global const double *topology_reals,
                                      __global const int *topology_integers,
                                      __global const int *plan, __global const double *entries,
                                      __global real *table) {
  const int count = window.candidates + window.starts;
  if (i >= count || j > i) return;
  const int entry_i = entry_at(window, i);
  const int entry_j = entry_at(window, j);
  const int molecule_i = molecule_of_entry(window, plan, entry_i);
  const int molecule_j = molecule_of_entry(window, plan, entry_j);
  PairEnergy energy = {0, 0};
  if (molecule_i != molecule_j) {
    energy = entry_pair_energy(window, constants, topology_reals, topology_integers, entries,
                               entry_i, topology_integers[molecule_i], entry_j,
                               topology_integers[molecule_j]);
  }
  const int rows = entry_capacity(window.layout);
  table[entry_i * rows + entry_j] = (real)energy.coulomb;
  table[entry_j * rows + entry_i] = (real)energy.coulomb;
  table[(rows + entry_i) * rows + entry_j] = (real)energy.vdw;
  table[(rows + entry_j) * rows + entry_i] = (real)energy.vdw;
}

#endif

#endif
