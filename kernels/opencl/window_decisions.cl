/* All that follows a window's energies in two launches or three, for GPUs whose groups can tell which of
   them is the last (window_energies.h says why): it goes on where the others end. */
#include "opencl/decide_window.h"
#include "opencl/propose.h"
#include "opencl/window_sums.h"

#if LAST_GROUP_GOES_ON && DECIDE_GROUP == PROPOSE_GROUP

/* Whether all other groups have come here before. counter: 0 at first, and again afterwards */
static inline int is_last_group(volatile __global int *counter, __local int *last) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    DEVICE_FENCE;
    *last = atomic_inc(counter) == (int)get_num_groups(0) - 1;
    DEVICE_FENCE;
    if (*last) *counter = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return *last;
}

/* What a window's energies add up to: MM sums of entries (mm_pair_reduce), tiles of differences
   (candidate_differences), candidates' own changes of the polarisation energy. */
__kernel GROUP_OF(ADD_UP_GROUP) void window_add_up(
    __global char *handed_memory, WindowShape window, AddUpGroups groups, int components,
    PLACE(plan), PLACE(mm_partial), PLACE(table), PLACE(responses), PLACE(molecule_response),
    PLACE(response_total), PLACE(mm_energies), PLACE(differences), PLACE(doubt_list)) {
  __local union {
    double sums[ADD_UP_GROUP];
    ulong units[ADD_UP_GROUP];
    ResponseTile tile;
  } shared;
  CONSTANT_PLACED_ARRAY(int, plan);
  CONSTANT_PLACED_ARRAY(double, mm_partial);
  CONSTANT_PLACED_ARRAY(real, table);
  CONSTANT_PLACED_ARRAY(int, responses);
  PLACED_ARRAY(int, molecule_response);
  PLACED_ARRAY(long, response_total);
  PLACED_ARRAY(double, mm_energies);
  PLACED_ARRAY(double, differences);
  PLACED_ARRAY(int, doubt_list);
  const Response response = {components, responses, molecule_response, response_total};
  const int group = (int)get_group_id(0);
  const int tile = group - groups.mm;
  const int own = tile - groups.differences;
  if (group == 0) clear_board(doubt_list, window);
  if (tile < 0) {
    mm_sums_of_entries(window, group % MM_TERMS, group / MM_TERMS * SUM_ENTRIES, mm_partial, table,
                       mm_energies, shared.sums);
  } else if (own < 0) {
    differences_of_tile(window, tile, plan, table, response, differences, &shared.tile);
  } else {
    own_polarisations(window, own * OWN_PER_GROUP, plan, response, differences, shared.units);
  }
}

/* Exact changes and the second pass, where there are doubts. Whether this group goes on. */
static inline int settle_doubts(const Deciding *deciding, __local double *occupation,
                                __local ulong *shared, __local int *last) {
  const int count = deciding->doubt_list[DOUBTS_COUNT];
  if (count == 0) return get_group_id(0) == 0;
  answer_doubts(&deciding->exact, min(count, MOST_DOUBTS), deciding->doubt_list, deciding->answers,
                shared);
  if (!is_last_group(deciding->doubt_list + DOUBTS_ARRIVED, last)) return 0;
  decide_pass(deciding, 1, 1, occupation, shared);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return 1;
}

/* metropolis_decide, by the last group. Where nothing has added up before, all do: MM sums of entries, pairs'
   differences and, where there are grid parts, GRID_SUMS_PER_GROUP candidates each
   (qmmm_coulomb_grid_sum). With a density one chain on an H200 took 11 % longer where small groups did, by
   a launch more.
   parts: of an exact change, which other groups than the last one help with (help.h); 1: none do */
__kernel GROUP_OF(DECIDE_GROUP) void window_decide(__global char *handed_memory,
                                                   DECIDE_PARAMETERS(PLACE), AddUpGroups groups,
                                                   PairConstants constants, int parts,
                                                   int grid_parts, int site_capacity,
                                                   PLACE(sites), PLACE(grid_partials),
                                                   PLACE(mm_partial), PLACE(table)) {
  __local double shared_sums[DECIDE_GROUP];
  __local ulong shared[DECIDE_GROUP];
  __local int last;
  DECIDE_ARRAYS(OF_PLACE)
  WITHOUT_POINTS_ARRAYS
  CONSTANT_PLACED_ARRAY(double, sites);
  CONSTANT_PLACED_ARRAY(double, grid_partials);
  CONSTANT_PLACED_ARRAY(double, mm_partial);
  CONSTANT_PLACED_ARRAY(real, table);
  const int group = (int)get_group_id(0);
  const int pair_group = group - groups.mm;
  const int grid_group = pair_group - groups.differences;
  if (pair_group < 0) {
    mm_sums_of_entries(window, group % MM_TERMS, group / MM_TERMS * SUM_ENTRIES, mm_partial, table,
                       mm_energies, shared_sums);
  } else if (grid_group < 0) {
    differences_of_pairs(window, pair_group * PAIRS_PER_ITEM * DECIDE_GROUP, plan, table,
                         differences);
  } else if (grid_parts > 0) {
    grid_sums_of_candidates(constants, window.layout.sites, site_capacity, grid_parts,
                            window.candidates, grid_group * GRID_SUMS_PER_GROUP,
                            GRID_SUMS_PER_GROUP, sites, grid_partials, grid_energies,
                            shared_sums);
  }
  const Deciding deciding = DECIDING;
  if (is_last_group(doubt_list + DOUBTS_ARRIVED, &last)) {
    decide_pass(&deciding, 0, parts, occupation, shared);
  } else if (parts > 1 && group < parts) {
    help(&deciding.exact, help_board(doubt_list, window), parts, answers, shared);
  }
}

/* What window_decide and window_settle do after the sums in one launch, where a group by itself makes an
   exact change about as fast as many would: without the points of a density. It settles each doubt when
   it meets it. parts: as of window_decide; all other groups help. */
__kernel GROUP_OF(DECIDE_GROUP) void window_decide_at_once(
    __global char *handed_memory, DECIDE_PARAMETERS(PLACE) AND_POINTS_PARAMETERS,
    WindowShape next, StepRange range, int parts, PLACE(outside)) {
  __local ulong shared[DECIDE_GROUP];
  DECIDE_ARRAYS(OF_PLACE)
  POINTS_ARRAYS
  PLACED_ARRAY(real, outside);
  const Deciding deciding = DECIDING;
  HELP_UNLESS_FIRST
  decide_pass(&deciding, 1, parts, occupation, shared);
  if (next.steps == 0) return;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const Proposal proposal = {next,           interaction,       range,       0,
                             topology_reals, topology_integers, chain_state, lattice,
                             plan,           entries,           outside,     0};
  propose(&proposal, (__local int *)occupation);
}

/* exact_changes and metropolis_settle, where there are doubts; then propose_moves for the next
   window, where there is one. */
__kernel GROUP_OF(DECIDE_GROUP) void window_settle(__global char *handed_memory,
                                                   DECIDE_PARAMETERS(PLACE) AND_POINTS_PARAMETERS,
                                                   WindowShape next, StepRange range,
                                                   int site_capacity, PLACE(sites),
                                                   PLACE(outside)) {
  __local ulong shared[DECIDE_GROUP];
  __local int last;
  DECIDE_ARRAYS(OF_PLACE)
  POINTS_ARRAYS
  PLACED_ARRAY(double, sites);
  PLACED_ARRAY(real, outside);
  if (get_group_id(0) == 0) clear_board(doubt_list, window);
  const Deciding deciding = DECIDING;
  if (!settle_doubts(&deciding, occupation, shared, &last) || next.steps == 0) return;
  const Proposal proposal = {next,        interaction,       range,       site_capacity,
                             topology_reals, topology_integers, chain_state, lattice,
                             plan,        entries,           outside,     sites};
  propose(&proposal, (__local int *)occupation);
}

#endif
