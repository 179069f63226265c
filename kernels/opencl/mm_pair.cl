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

/* A work-group per entry. sites: local memory for the entry's sites */
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
  const EntryMemory memory = {sites, shared, counts, list};
  mm_pair_of_entry(window, constants, entry_at(window, (int)get_group_id(0)), first_molecule,
                   last_molecule, topology_reals, topology_integers, plan, entries, lattice,
                   lattice_sites, outside, energies, memory);
}

/* An item per pair of entries. */
__kernel void mm_pair_table(WindowShape window, PairConstants constants, BUFFER(topology_reals),
                            BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
                            BUFFER(table)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  ARRAY(real, table);
  mm_pair_of_entries(window, constants, (int)get_global_id(1), (int)get_global_id(0),
                     topology_reals, topology_integers, plan, entries, table);
}

#endif
