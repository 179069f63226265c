/* All energies of a window with a reference in one launch. In a program of its own: the field of a
   reference has the same bits everywhere, so that the compiler may fuse multiplications and additions
   only where the pragma says so. */
#include "opencl/window_energies.h"
#include "opencl/reference_field.h"

#if LAST_GROUP_GOES_ON

/* The groups of the field: one per candidate (reference_field). They come first, for they take
   longest. */
__kernel GROUP_OF(PAIR_GROUP) void window_reference_energies(
    __global char *handed_memory, WINDOW_ENERGIES_PARAMETERS, PotentialLattice potential,
    PotentialLattice response, BUFFER(potential_values), BUFFER(response_values), PLACE(energies),
    PLACE(responses)) {
  WINDOW_ENERGIES_ARRAYS
  CONSTANT_ARRAY(float, potential_values);
  CONSTANT_ARRAY(half, response_values);
  PLACED_ARRAY(double, energies);
  PLACED_ARRAY(int, responses);
  __local ReferenceMemory reference_memory;
  int group = (int)get_group_id(0);
  if (group < window.candidates) {
    reference_field_of_candidate(window, &potential, &response, group, topology_reals,
                                 topology_integers, plan, entries, potential_values,
                                 response_values, energies, responses, &reference_memory);
    return;
  }
  group -= window.candidates;
  if (group < window.candidates + window.starts) {
    ENTRY_OF_WINDOW_ENERGIES(group);
    return;
  }
  REST_OF_WINDOW_ENERGIES(group - (window.candidates + window.starts));
}

#endif
