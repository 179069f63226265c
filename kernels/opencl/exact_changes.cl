#include "opencl/doubts.h"

/* Answers the doubts of the first pass: every group writes its share of each. */
__kernel GROUP_OF(EXACT_GROUP) void exact_changes(
    WindowShape window, Interaction interaction, int nuclei, int blocks, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(plan), BUFFER(entries), BUFFER(lattice), BUFFER(solute),
    BUFFER(exact_blocks), BUFFER(exact_points), BUFFER(doubt_list), BUFFER(answers)) {
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
  __local ulong shared[EXACT_GROUP];
  const int count = min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS);
  if (count == 0) return;
  const int group = (int)get_group_id(0);
  const int groups = (int)get_num_groups(0);
  const ExactSources sources =
      exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan,
                    entries, lattice, solute, exact_blocks, exact_points,
                    doubt_list + DOUBTS_TAKEN, 1);
  for (int doubt = 0; doubt < count; ++doubt) {
    __global const int *at = doubt_list + DOUBTS_HEADER + DOUBT_FIELDS * doubt;
    const ulong share = exact_change_share(&sources, at[DOUBT_INDEX], at[DOUBT_FROM],
                                           at[DOUBT_TO], group, groups);
    const ulong units = group_sum_units(share, shared);
    if (get_local_id(0) == 0) answers[doubt * groups + group] = units;
  }
}
