/* The work-groups of a window with a reference: those of the field, one per candidate (reference_field),
   come first, for they take longest; then those of window_energies.h. */
#ifndef STARPMC_OPENCL_WINDOW_REFERENCE_ENERGIES_H
#define STARPMC_OPENCL_WINDOW_REFERENCE_ENERGIES_H

#include "opencl/window_energies.h"
#include "opencl/reference_field.h"

#define REFERENCE_ENERGIES_PARAMETERS                                                        \
  PotentialLattice potential, PotentialLattice response, BUFFER(potential_values),           \
      BUFFER(response_values), PLACE(energies), PLACE(responses)
#define REFERENCE_ENERGIES_ARRAYS          \
  WINDOW_ENERGIES_ARRAYS                   \
  CONSTANT_ARRAY(float, potential_values); \
  CONSTANT_ARRAY(float, response_values);  \
  PLACED_ARRAY(double, energies);          \
  PLACED_ARRAY(int, responses);            \
  __local ReferenceMemory reference_memory;
/* A group of the field or of an entry has done its part and returns; what follows is its number among
   the others. */
#define FIELD_AND_ENTRIES_OF_WINDOW(GROUP)                                                         \
  int GROUP = (int)get_group_id(0);                                                                \
  if (GROUP < window.candidates) {                                                                 \
    reference_field_of_candidate(window, &potential, &response, GROUP, topology_reals,             \
                                 topology_integers, plan, entries, potential_values,               \
                                 response_values, energies, responses, &reference_memory);         \
    return;                                                                                        \
  }                                                                                                \
  GROUP -= window.candidates;                                                                      \
  if (GROUP < window.candidates + window.starts) {                                                 \
    ENTRY_OF_WINDOW_ENERGIES(GROUP);                                                               \
    return;                                                                                        \
  }                                                                                                \
  GROUP -= window.candidates + window.starts;

#endif
