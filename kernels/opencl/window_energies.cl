/* All energies of a window with a density, or without a field, in one launch. */
#include "opencl/window_energies.h"

#if LAST_GROUP_GOES_ON && PAIR_GROUP == GRID_GROUP
#include "opencl/grid_teams.h"

/* The groups of the field: chunks x slices (qmmm_coulomb_grid_pairs). */
__kernel GROUP_OF(PAIR_GROUP) void window_energies(
    __global char *handed_memory, WINDOW_ENERGIES_PARAMETERS, int chunks, int slices, int blocks,
    int blocks_per_chunk, int site_capacity, PLACE(grid_sites), BUFFER(block_headers),
    BUFFER(points), PLACE(grid_partials)) {
  WINDOW_ENERGIES_ARRAYS
  CONSTANT_PLACED_ARRAY(double, grid_sites);
  CONSTANT_ARRAY(double, block_headers);
  CONSTANT_ARRAY(coordinate, points);
  PLACED_ARRAY(double, grid_partials);
  GRID_MEMORY(grid_memory);
  int group = (int)get_group_id(0);
  if (group < window.candidates + window.starts) {
    ENTRY_OF_WINDOW_ENERGIES(group);
    return;
  }
  group -= window.candidates + window.starts;
  if (group < chunks * slices) {
    const GridShare share = {group / slices, group % slices, slices, blocks, blocks_per_chunk};
    grid_pairs_of_group(constants, share, site_capacity, grid_sites, block_headers, points,
                        grid_partials, grid_memory);
    return;
  }
  REST_OF_WINDOW_ENERGIES(group - chunks * slices);
}

#endif
