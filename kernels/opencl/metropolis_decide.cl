#include "opencl/decide_window.h"

/* Two kernels, so that the first need not carry the registers of the second. */
#define DEFINE_PASS_KERNEL(NAME, SECOND, POINTS_PARAMETERS, POINTS)                     \
  __kernel GROUP_OF(DECIDE_GROUP) void NAME(DECIDE_PARAMETERS(BUFFER) POINTS_PARAMETERS, \
                                            __local ulong *shared, int parts) {         \
    DECIDE_ARRAYS(OF_BUFFER)                                                            \
    POINTS                                                                              \
    if (SECOND && doubt_list[DOUBTS_COUNT] == 0) return;                                \
    const Deciding deciding = DECIDING;                                                 \
    HELP_UNLESS_FIRST                                                                   \
    decide_pass(&deciding, SECOND, parts, occupation, shared);                          \
  }
DEFINE_PASS_KERNEL(metropolis_decide, 0, WITHOUT_POINTS_PARAMETERS, WITHOUT_POINTS_ARRAYS)
DEFINE_PASS_KERNEL(metropolis_settle, 1, AND_POINTS_PARAMETERS, POINTS_ARRAYS)

/* Between the two, by the whole device. */
__kernel GROUP_OF(EXACT_GROUP) void exact_changes(
    WindowShape window, Interaction interaction, int nuclei, int blocks, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(plan), BUFFER(entries), BUFFER(lattice), BUFFER(solute),
    BUFFER(exact_blocks), BUFFER(exact_points), BUFFER(doubt_list), BUFFER(answers),
    __local ulong *shared) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(double, solute);
  CONSTANT_ARRAY(double, exact_blocks);
  CONSTANT_ARRAY(double, exact_points);
  CONSTANT_ARRAY(int, doubt_list);
  ARRAY(ulong, answers);
  const int count = min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS);
  if (count == 0) return;
  const ExactSources sources =
      exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan,
                    entries, lattice, solute, exact_blocks, exact_points,
                    doubt_list + DOUBTS_TAKEN);
  answer_doubts(&sources, count, doubt_list, answers, shared);
}
