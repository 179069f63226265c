#include "opencl/mm_lanes.h"
#include "opencl/mm_teams.h"

#if STARPMC_CPU_DEVICE

/* An item per start entry, for it and its candidates.
   targets: local memory for their sites */
__kernel GROUP_OF(1) void mm_pair(
    WindowShape window, PairConstants constants, int first_molecule, int last_molecule,
    BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
    BUFFER(lattice), BUFFER(lattice_sites), BUFFER(outside), BUFFER(energies),
    __local double4 *targets) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(coordinate, lattice_sites);
  CONSTANT_ARRAY(real, outside);
  ARRAY(double, energies);
  EntryGroup group;
  set_group(&group, window, constants, topology_reals, topology_integers, plan, entries, targets);
  const Sources sources = {lattice, lattice_sites, 0, window.layout.molecules};
  const Company company = {plan, outside, -1};
  const Sink sums = {0};
  meet(&group, sources, company, first_molecule, last_molecule, sums);
  for (int m = 0; m < group.members; ++m) {
    energies[group.entries[m]] = group.coulomb[m];
    energies[entry_capacity(window.layout) + group.entries[m]] = group.vdw[m];
  }
}

/* An item per start entry, for the pairs of it and its candidates with the entries of later ones:
   both halves of the symmetric table are written, the rest is 0 before. */
__kernel GROUP_OF(1) void mm_pair_table(WindowShape window, PairConstants constants,
                                        BUFFER(topology_reals), BUFFER(topology_integers),
                                        BUFFER(plan), BUFFER(entries), BUFFER(table),
                                        __local double4 *targets) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  ARRAY(real, table);
  const int slot = (int)get_global_id(0);
  EntryGroup group;
  set_group(&group, window, constants, topology_reals, topology_integers, plan, entries, targets);
  const WindowLayout layout = window.layout;
  const int rows = entry_capacity(layout);
  const Sources sources = {entries, 0, entries + POSE_FIELDS * rows, rows};
  const Company company = {plan, 0, slot};
  const Sink sink = {table};
  meet(&group, sources, company, 0, window.candidates, sink);
  meet(&group, sources, company, start_entry(layout, slot + 1), start_entry(layout, window.starts),
       sink);
}

#else

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
      const PairEnergy energy = lattice_pair_energy(
          topology, topology_reals, topology_integers, constants, sites, type, search.centre,
          k >= listed.far, reach > constants.half_shortest_edge, stride, lattice, lattice_sites,
          other);
      sum.coulomb += energy.coulomb;
      sum.vdw += energy.vdw;
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

#endif
