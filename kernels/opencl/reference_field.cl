#include "opencl/reference_field.h"

/* A work-group per candidate. */
__kernel GROUP_OF(REFERENCE_GROUP) void reference_field(
    WindowShape window, PotentialLattice potential, PotentialLattice response,
    BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
    BUFFER(potential_values), BUFFER(response_values), BUFFER(energies), BUFFER(responses),
    __local ReferenceMemory *memory) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(float, potential_values);
  CONSTANT_ARRAY(half, response_values);
  ARRAY(double, energies);
  ARRAY(int, responses);
  reference_field_of_candidate(window, &potential, &response, (int)get_group_id(0), topology_reals,
                               topology_integers, plan, entries, potential_values, response_values,
                               energies, responses, memory);
}
