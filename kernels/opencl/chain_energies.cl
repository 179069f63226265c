#include "opencl/chain_windows.h"
#include "opencl/window_reference_energies.h"

#if LAST_GROUP_GOES_ON

/* window_reference_energies */
__kernel GROUP_OF(PAIR_GROUP) void chains_reference_energies(
    CHAINS_PARAMETERS, WINDOW_ENERGIES_PARAMETERS_OF_ALL, REFERENCE_ENERGIES_PARAMETERS) {
  CHAIN_OF_GROUP
  const WindowShape window = own->window;
  const int tiles = tiles_of(window.candidates + window.starts);
  const int statics = has_static_terms(interaction, nuclei) ? window.candidates : 0;
  REFERENCE_ENERGIES_ARRAYS
  FIELD_AND_ENTRIES_OF_WINDOW(group)
  if (group < tiles + statics) REST_OF_WINDOW_ENERGIES(group);
}

#endif
