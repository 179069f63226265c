/* All energies of a window in one launch, for GPUs: a launch costs the host as much as the whole grid
   term of a small density, and the MM terms, which wait for memory, leave room for the field, which
   computes. Its groups do what those of the single operations do. */
#ifndef STARPMC_OPENCL_WINDOW_ENERGIES_H
#define STARPMC_OPENCL_WINDOW_ENERGIES_H

#include "opencl/mm_teams.h"
#include "opencl/nuclei_vdw.h"

#if LAST_GROUP_GOES_ON

/* What the terms of all windows take, whatever their field. */
#define WINDOW_ENERGIES_PARAMETERS                                                             \
  WindowShape window, Interaction interaction, PairConstants constants, int tiles, int nuclei, \
      PLACE(topology_reals), PLACE(topology_integers), PLACE(plan), PLACE(entries),            \
      PLACE(lattice), PLACE(lattice_sites), PLACE(outside), PLACE(solute), PLACE(mm_partial),  \
      PLACE(table), PLACE(nuclei_energies), __local TargetSite *sites
#define WINDOW_ENERGIES_ARRAYS                      \
  CONSTANT_PLACED_ARRAY(double, topology_reals);    \
  CONSTANT_PLACED_ARRAY(int, topology_integers);    \
  CONSTANT_PLACED_ARRAY(int, plan);                 \
  CONSTANT_PLACED_ARRAY(double, entries);           \
  CONSTANT_PLACED_ARRAY(double, lattice);           \
  CONSTANT_PLACED_ARRAY(coordinate, lattice_sites); \
  CONSTANT_PLACED_ARRAY(real, outside);             \
  CONSTANT_PLACED_ARRAY(double, solute);            \
  PLACED_ARRAY(double, mm_partial);                 \
  PLACED_ARRAY(real, table);                        \
  PLACED_ARRAY(double, nuclei_energies);            \
  __local double shared[PAIR_GROUP];                \
  __local uint counts[PAIR_GROUP];                  \
  __local ushort list[LISTED_AT_A_TIME];
/* One of the work-groups after those of the field: `tiles` (mm_pair_table), then one per candidate
   where there are static terms (qmmm_nuclei_vdw). */
#define REST_OF_WINDOW_ENERGIES(GROUP)                                                          \
  rest_of_window_energies(window, interaction, constants, tiles, nuclei, GROUP, topology_reals, \
                          topology_integers, plan, entries, solute, table, nuclei_energies, shared)
/* One of the first work-groups, one per entry (mm_pair). */
#define ENTRY_OF_WINDOW_ENERGIES(GROUP)                                                        \
  do {                                                                                         \
    const EntryMemory memory = {sites, shared, counts, list};                                  \
    mm_pair_of_entry(window, constants, entry_at(window, GROUP), 0, window.topology.molecules, \
                     topology_reals, topology_integers, plan, entries, lattice, lattice_sites, \
                     outside, mm_partial, memory);                                             \
  } while (0)

/* Row of a tile of the lower triangle, tiles counted row by row. */
static inline int tile_row(int tile) {
  int row = (int)((sqrt(8.0f * (float)tile + 1.0f) - 1.0f) / 2.0f);
  while ((row + 1) * (row + 2) / 2 <= tile) ++row;
  while (row * (row + 1) / 2 > tile) --row;
  return row;
}

static inline void rest_of_window_energies(
    WindowShape window, Interaction interaction, PairConstants constants, int tiles, int nuclei,
    int group, __global const double *topology_reals, __global const int *topology_integers,
    __global const int *plan, __global const double *entries, __global const double *solute,
    __global real *table, __global double *nuclei_energies, __local double *shared) {
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

#endif
