/* All energies of a window in one launch, for GPUs: a launch costs the host as much as the whole grid
   term of a small density, and the MM terms, which wait for memory, leave room for the grid term,
   which computes. Its groups do what those of the single operations do. */
#include "opencl/mm_teams.h"
#include "opencl/nuclei_vdw.h"

#if LAST_GROUP_GOES_ON && PAIR_GROUP == GRID_GROUP
#include "opencl/grid_teams.h"

/* Row of a tile of the lower triangle, tiles counted row by row. */
static inline int tile_row(int tile) {
  int row = (int)((sqrt(8.0f * (float)tile + 1.0f) - 1.0f) / 2.0f);
  while ((row + 1) * (row + 2) / 2 <= tile) ++row;
  while (row * (row + 1) / 2 > tile) --row;
  return row;
}

/* Work-groups: one per entry (mm_pair), chunks x slices (qmmm_coulomb_grid_pairs), `tiles`
   (mm_pair_table), one per candidate where there are static terms
   (qmmm_nuclei_vdw). */
__kernel GROUP_OF(PAIR_GROUP) void window_energies(
    __global char *handed_memory, WindowShape window, Interaction interaction,
    PairConstants constants, int tiles, int nuclei, int chunks, int slices, int blocks,
    int blocks_per_chunk, int site_capacity, BUFFER(topology_reals), BUFFER(topology_integers),
    PLACE(plan), PLACE(entries), BUFFER(lattice), BUFFER(lattice_sites), PLACE(outside),
    BUFFER(solute), PLACE(grid_sites), BUFFER(block_headers), BUFFER(points), PLACE(mm_partial),
    PLACE(table), PLACE(nuclei_energies), PLACE(grid_partials), __local TargetSite *sites) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_PLACED_ARRAY(int, plan);
  CONSTANT_PLACED_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(coordinate, lattice_sites);
  CONSTANT_PLACED_ARRAY(real, outside);
  CONSTANT_ARRAY(double, solute);
  CONSTANT_PLACED_ARRAY(double, grid_sites);
  CONSTANT_ARRAY(double, block_headers);
  CONSTANT_ARRAY(coordinate, points);
  PLACED_ARRAY(double, mm_partial);
  PLACED_ARRAY(real, table);
  PLACED_ARRAY(double, nuclei_energies);
  PLACED_ARRAY(double, grid_partials);
  __local double shared[PAIR_GROUP];
  __local uint counts[PAIR_GROUP];
  __local ushort list[LISTED_AT_A_TIME];
  GRID_MEMORY(grid_memory);
  int group = (int)get_group_id(0);
  if (group < window.candidates + window.starts) {
    const EntryMemory memory = {sites, shared, counts, list};
    mm_pair_of_entry(window, constants, entry_at(window, group), 0, window.topology.molecules,
                     topology_reals, topology_integers, plan, entries, lattice, lattice_sites,
                     outside, mm_partial, memory);
    return;
  }
  group -= window.candidates + window.starts;
  if (group < chunks * slices) {
    const GridShare share = {group / slices, group % slices, slices, blocks, blocks_per_chunk};
    grid_pairs_of_group(constants, share, site_capacity, grid_sites, block_headers, points,
                        grid_partials, grid_memory);
    return;
  }
  group -= chunks * slices;
  if (group < tiles) {
    const int row = tile_row(group);
    const int column = group - row * (row + 1) / 2;
    for (int pair = (int)get_local_id(0); pair < TABLE_TILE * TABLE_TILE; pair += PAIR_GROUP) {
      mm_pair_of_entries(window, constants, row * TABLE_TILE + pair / TABLE_TILE,
                         column * TABLE_TILE + pair % TABLE_TILE, topology_reals,
                         topology_integers, plan, entries, table);
    }
    return;
  }
  nuclei_vdw_of_candidate(window, interaction, constants, nuclei, group - tiles, topology_reals,
                          topology_integers, plan, entries, solute, nuclei_energies, shared);
}

#endif
