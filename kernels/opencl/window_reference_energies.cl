/* All energies of a window with a reference in one launch. In a program of its own: the field of a
   reference has the same bits everywhere, so that the compiler may fuse multiplications and additions
   only where the pragma says so. */
#include "opencl/window_reference_energies.h"

#if LAST_GROUP_GOES_ON

__kernel GROUP_OF(PAIR_GROUP) void window_reference_energies(
    __global char *handed_memory, WINDOW_ENERGIES_PARAMETERS, REFERENCE_ENERGIES_PARAMETERS) {
  REFERENCE_ENERGIES_ARRAYS
  FIELD_AND_ENTRIES_OF_WINDOW(group)
  REST_OF_WINDOW_ENERGIES(group);
}

#endif
