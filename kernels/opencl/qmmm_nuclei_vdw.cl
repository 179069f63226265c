#include "opencl/nuclei_vdw.h"

/* A work-group per candidate. shared: local memory, a value per item (portable.h says why it is an
   argument) */
__kernel GROUP_OF(SUM_GROUP) void qmmm_nuclei_vdw(WindowShape window, Interaction interaction,
                                                  PairConstants constants, int nuclei,
                                                  BUFFER(topology_reals),
                                                  BUFFER(topology_integers), BUFFER(plan),
                                                  BUFFER(entries), BUFFER(solute),
                                                  BUFFER(energies), __local double *shared) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, solute);
  ARRAY(double, energies);
  nuclei_vdw_of_candidate(window, interaction, constants, nuclei, (int)get_group_id(0),
                          topology_reals, topology_integers, plan, entries, solute, energies,
                          shared);
}
