/* All that follows a window's energies in two launches, or in one, for GPUs whose groups can tell which
   of them is the last (window_energies.h says why): it goes on where the others end. */
#include "opencl/decide_window.h"
#include "opencl/propose.h"
#include "opencl/window_sums.h"

#if LAST_GROUP_GOES_ON && DECIDE_GROUP == PROPOSE_GROUP

/* What a group wrote is seen by one that learns of it. */
#ifdef __NV_CL_C_VERSION
#define DEVICE_FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define DEVICE_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

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

/* The groups need the registers of the last one: few of them fit a compute unit, so each does a lot. */
#define PAIRS_PER_GROUP (4 * DECIDE_GROUP)
#define GRID_SUMS_PER_GROUP 4

/* What the first of a window's groups do: one per SUM_ENTRIES entries and term (mm_pair_reduce), then
   one per PAIRS_PER_GROUP pairs of candidates (candidate_differences).
   Returns the number of a group among those that follow; negative: it is one of these. */
static inline int add_up_window(WindowShape window, __global const int *plan,
                                __global const double *mm_partial, __global const real *table,
                                Response response, __global double *mm_energies,
                                __global double *differences, __local double *shared) {
  const int group = (int)get_group_id(0);
  const int entry_count = window.candidates + window.starts;
  const int sums = MM_TERMS * ((entry_count + SUM_ENTRIES - 1) / SUM_ENTRIES);
  const int pairs = window.candidates * window.candidates;
  const int pair_groups = (pairs + PAIRS_PER_GROUP - 1) / PAIRS_PER_GROUP;
  if (group < sums) {
    mm_sums_of_entries(window, group % MM_TERMS, group / MM_TERMS * SUM_ENTRIES, mm_partial, table,
                       mm_energies, shared);
  } else if (group < sums + pair_groups) {
    const int first = (group - sums) * PAIRS_PER_GROUP;
    const int end = min(first + PAIRS_PER_GROUP, pairs);
    for (int pair = first + (int)get_local_id(0); pair < end; pair += DECIDE_GROUP) {
      difference_of_candidates(window, pair / window.candidates, pair % window.candidates, plan,
                               table, response, differences);
    }
  }
  return group - sums - pair_groups;
}

/* Exact changes and the second pass, where there are doubts. Whether this group goes on. */
static inline int settle_doubts(const Deciding *deciding, __local double *occupation,
                                __local ulong *shared, __local int *last) {
  const int count = deciding->doubt_list[DOUBTS_COUNT];
  if (count == 0) return get_group_id(0) == 0;
  answer_doubts(&deciding->exact, min(count, MOST_DOUBTS), deciding->doubt_list, deciding->answers,
                shared);
  if (!is_last_group(deciding->doubt_list + DOUBTS_ARRIVED, last)) return 0;
  decide_pass(deciding, 1, occupation, shared);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return 1;
}

/* The groups of add_up_window, then one per GRID_SUMS_PER_GROUP candidates where there are grid parts
   (qmmm_coulomb_grid_sum); then metropolis_decide. */
__kernel GROUP_OF(DECIDE_GROUP) void window_decide(__global char *handed_memory,
                                                   DECIDE_PARAMETERS(PLACE),
                                                   PairConstants constants, int grid_parts,
                                                   int site_capacity, PLACE(sites),
                                                   PLACE(grid_partials), PLACE(mm_partial),
                                                   PLACE(table)) {
  __local double shared_sums[DECIDE_GROUP];
  __local ulong shared[DECIDE_GROUP];
  __local int last;
  DECIDE_ARRAYS(OF_PLACE)
  WITHOUT_EXACT_ARRAYS(OF_PLACE)
  CONSTANT_PLACED_ARRAY(double, sites);
  CONSTANT_PLACED_ARRAY(double, grid_partials);
  CONSTANT_PLACED_ARRAY(double, mm_partial);
  CONSTANT_PLACED_ARRAY(real, table);
  const Response response = {components, responses, molecule_response, 0};
  const int grid_group = add_up_window(window, plan, mm_partial, table, response, mm_energies,
                                       differences, shared_sums);
  if (grid_group >= 0) {
    grid_sums_of_candidates(constants, window.layout.sites, site_capacity, grid_parts,
                            window.candidates, grid_group * GRID_SUMS_PER_GROUP,
                            GRID_SUMS_PER_GROUP, sites, grid_partials, grid_energies,
                            shared_sums);
  }
  if (!is_last_group(doubt_list + DOUBTS_ARRIVED, &last)) return;
  const Deciding deciding = DECIDING(0);
  decide_pass(&deciding, 0, occupation, shared);
}

/* window_decide and window_settle in one launch, where there are no grid parts and the last group
   by itself makes an exact change about as fast as many would: without the points of a density. It
   settles each doubt when it meets it. */
__kernel GROUP_OF(DECIDE_GROUP) void window_decide_at_once(
    __global char *handed_memory, DECIDE_PARAMETERS(PLACE) AND_EXACT_PARAMETERS(PLACE),
    WindowShape next, StepRange range, PLACE(outside), PLACE(mm_partial), PLACE(table)) {
  __local double shared_sums[DECIDE_GROUP];
  __local ulong shared[DECIDE_GROUP];
  __local int last;
  DECIDE_ARRAYS(OF_PLACE)
  EXACT_ARRAYS(OF_PLACE)
  PLACED_ARRAY(real, outside);
  CONSTANT_PLACED_ARRAY(double, mm_partial);
  CONSTANT_PLACED_ARRAY(real, table);
  const Response response = {components, responses, molecule_response, 0};
  add_up_window(window, plan, mm_partial, table, response, mm_energies, differences, shared_sums);
  if (!is_last_group(doubt_list + DOUBTS_ARRIVED, &last)) return;
  const Deciding deciding = DECIDING(1);
  decide_pass(&deciding, 1, occupation, shared);
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
                                                   DECIDE_PARAMETERS(PLACE)
                                                       AND_EXACT_PARAMETERS(PLACE),
                                                   WindowShape next, StepRange range,
                                                   int site_capacity, PLACE(sites),
                                                   PLACE(outside)) {
  __local ulong shared[DECIDE_GROUP];
  __local int last;
  DECIDE_ARRAYS(OF_PLACE)
  EXACT_ARRAYS(OF_PLACE)
  PLACED_ARRAY(double, sites);
  PLACED_ARRAY(real, outside);
  const Deciding deciding = DECIDING(1);
  if (!settle_doubts(&deciding, occupation, shared, &last) || next.steps == 0) return;
  const Proposal proposal = {next,        interaction,       range,       site_capacity,
                             topology_reals, topology_integers, chain_state, lattice,
                             plan,        entries,           outside,     sites};
  propose(&proposal, (__local int *)occupation);
}

#endif
