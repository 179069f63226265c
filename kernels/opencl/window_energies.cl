/* Several energies in one launch, for GPUs: a launch costs the host as much as the whole grid term of
   a small density, and the device a few microseconds of idling. Its groups do what those of the
   single operations do. */
#include "opencl/mm_teams.h"
#include "opencl/nuclei_vdw.h"

#if !STARPMC_CPU_DEVICE

/* Row of a tile of the lower triangle, tiles counted row by row. */
static inline int tile_row(int tile) {
  int row = (int)((sqrt(8.0f * (float)tile + 1.0f) - 1.0f) / 2.0f);
  while ((row + 1) * (row + 2) / 2 <= tile) ++row;
  while (row * (row + 1) / 2 > tile) --row;
  return row;
}

/* Work-groups: one per entry (mm_pair), `tiles` (mm_pair_table), one per candidate where there are
   nuclei (qmmm_nuclei_vdw). */
__kernel GROUP_OF(PAIR_GROUP) void window_energies(
    WindowShape window, PairConstants constants, int tiles, int nuclei, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(plan), BUFFER(entries), BUFFER(lattice),
    BUFFER(lattice_sites), BUFFER(outside), BUFFER(solute), BUFFER(mm_partial), BUFFER(table),
    BUFFER(nuclei_energies), __local TargetSite *sites) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(coordinate, lattice_sites);
  CONSTANT_ARRAY(real, outside);
  CONSTANT_ARRAY(double, solute);
  ARRAY(double, mm_partial);
  ARRAY(real, table);
  ARRAY(double, nuclei_energies);
  __local double shared[PAIR_GROUP];
  __local uint counts[PAIR_GROUP];
  __local ushort list[LISTED_AT_A_TIME];
  const int group = (int)get_group_id(0);
  const int entry_count = window.candidates + window.starts;
  if (group < entry_count) {
    const EntryMemory memory = {sites, shared, counts, list};
    mm_pair_of_entry(window, constants, entry_at(window, group), 0, window.topology.molecules,
                     topology_reals, topology_integers, plan, entries, lattice, lattice_sites,
                     outside, mm_partial, memory);
  } else if (group < entry_count + tiles) {
    const int tile = group - entry_count;
    const int row = tile_row(tile);
    const int column = tile - row * (row + 1) / 2;
    const int item = (int)get_local_id(0);
    if (item < TABLE_TILE * TABLE_TILE) mm_pair_of_entries(window, constants, row * TABLE_TILE + item / TABLE_TILE,
                       column * TABLE_TILE + item % TABLE_TILE, topology_reals,
                       topology_integers, plan, entries, table);
  } else {
    nuclei_vdw_of_candidate(window, constants, nuclei, group - entry_count - tiles,
                            topology_reals, topology_integers, plan, entries, solute,
                            nuclei_energies, shared);
  }
}

#endif
