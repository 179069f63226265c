#include "opencl/molecule_pair.h"
#include "opencl/neighbour_list.h"
#include "opencl/reduction.h"

static inline lattice_place place_of_lattice_site(__global const coordinate *lattice_sites,
                                                  int stride, int molecule, int site) {
  __global const coordinate *place = lattice_sites + 3 * site * stride + molecule;
  return (lattice_place)(place[0], place[stride], place[2 * stride]);
}

/* A work-group per entry, its items share the molecules.
   sites: local memory for the entry's sites */
__kernel GROUP_OF(PAIR_GROUP) void mm_pair(
    WindowShape window, PairConstants constants, int first_molecule, int last_molecule,
    BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
    BUFFER(lattice), BUFFER(lattice_sites), BUFFER(outside), BUFFER(energies),
    __local TargetSite *sites) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(coordinate, lattice_sites);
  CONSTANT_ARRAY(real, outside);
  ARRAY(double, energies);
  __local double shared[PAIR_GROUP];
  __local uint counts[PAIR_GROUP];
  __local ushort list[LISTED_AT_A_TIME];
  const TopologyShape topology = window.topology;
  const int stride = window.layout.molecules;
  const PairReals reals = pair_reals(constants);
  const int entry = entry_at(window, (int)get_group_id(0));
  const int type = topology_integers[molecule_of_entry(window, plan, entry)];
  const int count = site_count(topology, topology_integers, type);
  for (int site = (int)get_local_id(0); site < count; site += PAIR_GROUP) {
    sites[site] = target_site(window, topology_reals, entries, entry, type, site, constants);
  }
  const double reach = molecule_reach(topology, topology_reals, topology_integers, constants);
  const Search search = {entry_centre(window, entries, entry), (real)(reach * reach),
                         (real)(STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE)};
  PairEnergy sum = {0, 0};
  for (int first = first_molecule; first < last_molecule; first += LISTED_AT_A_TIME) {
    const int last = min(last_molecule, first + LISTED_AT_A_TIME);
    const Listed listed =
        list_neighbours(search, reals, first, last, stride, lattice, outside, counts, list);
    for (int k = (int)get_local_id(0); k < listed.far + listed.near; k += PAIR_GROUP) {
      const int other = first + (int)list[k];
      const double3 centre =
          (double3)(lattice[other], lattice[stride + other], lattice[2 * stride + other]);
      const PairPlace pair = {minimum_image(centre - search.centre, constants), k >= listed.far,
                              reach > constants.half_shortest_edge};
      MoleculePair energy = {{0, 0}, {0, 0}};
      const int other_type = topology_integers[other];
      for (int j = 0; j < site_count(topology, topology_integers, other_type); ++j) {
        const double charge = site_charge(topology, topology_reals, other_type, j);
        const lattice_place place = place_of_lattice_site(lattice_sites, stride, other, j);
        const int type_j = site_type(topology, topology_integers, other_type, j);
        for (int i = 0; i < count; ++i) {
          const int type_i = site_type(topology, topology_integers, type, i);
          add_sites(sites[i].place, place, sites[i].charge * charge,
                    topology_reals + topology_pair(topology, type_i, type_j), pair, constants,
                    reals, &energy);
        }
      }
      sum.coulomb += coulomb_of(energy);
      sum.vdw += vdw_of(energy);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const double coulomb = group_sum(sum.coulomb, shared);
  const double vdw = group_sum(sum.vdw, shared);
  if (get_local_id(0) == 0) {
    energies[entry] = coulomb;
    energies[entry_capacity(window.layout) + entry] = vdw;
  }
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

/* An item per pair of entries i >= j; both halves of the symmetric table are written. */
__kernel void mm_pair_table(WindowShape window, PairConstants constants, BUFFER(topology_reals),
                            BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
                            BUFFER(table)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  ARRAY(real, table);
  const int count = window.candidates + window.starts;
  if ((int)get_global_id(1) >= count || get_global_id(0) > get_global_id(1)) return;
  const int entry_i = entry_at(window, (int)get_global_id(1));
  const int entry_j = entry_at(window, (int)get_global_id(0));
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
