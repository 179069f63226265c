/* Exact energy changes where each of several devices has a part of the density: each evaluates the
   steps in doubt with its own part (exact_grid_shares, collect_grid_shares), and all of them take
   the sums of what they are told (add_grid_shares, exact_changes_with_shares). */
#include "opencl/decide_window.h"

/* exact_changes of the blocks [first_block, first_block + blocks) alone. */
__kernel GROUP_OF(EXACT_GROUP) void exact_grid_shares(
    WindowShape window, Interaction interaction, int first_block, int blocks, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(plan), BUFFER(entries), BUFFER(exact_blocks),
    BUFFER(exact_points), BUFFER(doubt_list), BUFFER(answers), __local ulong *shared) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, exact_blocks);
  CONSTANT_ARRAY(double, exact_points);
  CONSTANT_ARRAY(int, doubt_list);
  ARRAY(ulong, answers);
  const int count = min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS);
  if (count == 0) return;
  /* Where the other molecules are does not matter: there is no lattice. */
  const ExactSources sources =
      exact_sources(window, interaction, 0, blocks, topology_reals, topology_integers, plan, entries,
                    entries, entries, exact_blocks + first_block * BLOCK_FIELDS,
                    exact_points + (ulong)first_block * STARPMC_BLOCK_VALUES,
                    doubt_list + DOUBTS_TAKEN, 1);
  const int group = (int)get_group_id(0);
  const int groups = (int)get_num_groups(0);
  for (int doubt = 0; doubt < count; ++doubt) {
    __global const int *at = doubt_list + DOUBTS_HEADER + DOUBT_FIELDS * doubt;
    const int moved = plan[plan_step_molecule(window.layout) + at[DOUBT_INDEX]];
    const Placed before = placed_molecule(&sources, moved, at[DOUBT_FROM]);
    const Placed after = placed_molecule(&sources, moved, at[DOUBT_TO]);
    const ulong share = exact_grid_change(&sources, &before, &after, group, groups);
    const ulong units = group_sum_units(share, shared);
    if (get_local_id(0) == 0) answers[doubt * groups + group] = units;
  }
}

/* By one group: what the groups of exact_grid_shares found, as others read it. */
__kernel GROUP_OF(EXACT_GROUP) void collect_grid_shares(int candidates, int groups,
                                                        BUFFER(doubt_list), BUFFER(answers),
                                                        BUFFER(grid_shares),
                                                        __local ulong *shared) {
  CONSTANT_ARRAY(int, doubt_list);
  CONSTANT_ARRAY(ulong, answers);
  ARRAY(ulong, grid_shares);
  const int item = (int)get_local_id(0);
  for (int i = item; i < candidates; i += EXACT_GROUP) grid_shares[i] = STARPMC_NO_SHARE;
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  const int count = min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS);
  for (int doubt = 0; doubt < count; ++doubt) {
    ulong units = 0;
    for (int i = item; i < groups; i += EXACT_GROUP) units += answers[doubt * groups + i];
    units = group_sum_units(units, shared);
    if (item == 0) grid_shares[doubt_list[DOUBTS_HEADER + DOUBT_FIELDS * doubt + DOUBT_TO]] = units;
  }
}

/* One member's shares and the sum over those before; where one has none there is no sum. */
__kernel void add_grid_shares(int candidates, int first, BUFFER(grid_shares), BUFFER(sums)) {
  CONSTANT_ARRAY(ulong, grid_shares);
  ARRAY(ulong, sums);
  const int i = (int)get_global_id(0);
  if (i >= candidates) return;
  const ulong before = first ? 0 : sums[i];
  const ulong share = grid_shares[i];
  const int known = before != STARPMC_NO_SHARE && share != STARPMC_NO_SHARE;
  sums[i] = known ? before + share : STARPMC_NO_SHARE;
}

/* exact_changes, but for the density's part where its sum is known. */
__kernel GROUP_OF(EXACT_GROUP) void exact_changes_with_shares(
    WindowShape window, Interaction interaction, int nuclei, int blocks, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(plan), BUFFER(entries), BUFFER(lattice), BUFFER(solute),
    BUFFER(exact_blocks), BUFFER(exact_points), BUFFER(sums), BUFFER(doubt_list), BUFFER(answers),
    __local ulong *shared) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(double, solute);
  CONSTANT_ARRAY(double, exact_blocks);
  CONSTANT_ARRAY(double, exact_points);
  CONSTANT_ARRAY(ulong, sums);
  CONSTANT_ARRAY(int, doubt_list);
  ARRAY(ulong, answers);
  const int count = min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS);
  if (count == 0) return;
  ExactSources sources =
      exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan,
                    entries, lattice, solute, exact_blocks, exact_points,
                    doubt_list + DOUBTS_TAKEN, 1);
  const int group = (int)get_group_id(0);
  const int groups = (int)get_num_groups(0);
  for (int doubt = 0; doubt < count; ++doubt) {
    __global const int *at = doubt_list + DOUBTS_HEADER + DOUBT_FIELDS * doubt;
    const ulong known = sums[at[DOUBT_TO]];
    sources.blocks = known == STARPMC_NO_SHARE ? blocks : 0;
    ulong share = exact_change_share(&sources, at[DOUBT_INDEX], at[DOUBT_FROM], at[DOUBT_TO], group,
                                     groups);
    if (known != STARPMC_NO_SHARE && get_global_id(0) == 0) share += known;
    const ulong units = group_sum_units(share, shared);
    if (get_local_id(0) == 0) answers[doubt * groups + group] = units;
  }
}
