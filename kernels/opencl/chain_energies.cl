#include "opencl/chain_windows.h"
#include "opencl/reference_field.h"
#include "opencl/window_energies.h"

#if LAST_GROUP_GOES_ON

/* window_reference_energies */
__kernel GROUP_OF(PAIR_GROUP) void chains_reference_energies(
    CHAINS_PARAMETERS, WINDOW_ENERGIES_PARAMETERS_OF_ALL, PotentialLattice potential,
    PotentialLattice response, BUFFER(potential_values), BUFFER(response_values), PLACE(energies),
    PLACE(responses)) {
  CHAIN_OF_GROUP
  const WindowShape window = own->window;
  WINDOW_ENERGIES_ARRAYS
  CONSTANT_ARRAY(float, potential_values);
  CONSTANT_ARRAY(float, response_values);
  PLACED_ARRAY(double, energies);
  PLACED_ARRAY(int, responses);
  __local ReferenceMemory reference_memory;
  const int entry_count = window.candidates + window.starts;
  const int tiles = tiles_of(entry_count);
  const int statics = has_static_terms(interaction, nuclei) ? window.candidates : 0;
  int group = (int)get_group_id(0);
  if (group < window.candidates) {
    reference_field_of_candidate(window, &potential, &response, group, topology_reals,
                                 topology_integers, plan, entries, potential_values,
                                 response_values, energies, responses, &reference_memory);
    return;
  }
  group -= window.candidates;
  if (group < entry_count) {
    ENTRY_OF_WINDOW_ENERGIES(group);
    return;
  }
  group -= entry_count;
  if (group < tiles + statics) REST_OF_WINDOW_ENERGIES(group);
}

#endif
