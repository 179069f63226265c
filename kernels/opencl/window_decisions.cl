/* All that follows a window's energies in two launches, for GPUs whose groups can tell which of them
   is the last (window_energies.cl says why): it goes on where the others end. */
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

/* Work-groups: one per SUM_ENTRIES entries and term (mm_pair_reduce), one per PAIRS_PER_GROUP pairs
   of candidates (candidate_differences), and one per GRID_SUMS_PER_GROUP candidates where there are
   grid parts (qmmm_coulomb_grid_sum); then metropolis_decide. */
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
  const int group = (int)get_group_id(0);
  const int entry_count = window.candidates + window.starts;
  const int sums = MM_TERMS * ((entry_count + SUM_ENTRIES - 1) / SUM_ENTRIES);
  const int pairs = window.candidates * window.candidates;
  const int pair_groups = (pairs + PAIRS_PER_GROUP - 1) / PAIRS_PER_GROUP;
  if (group < sums) {
    mm_sums_of_entries(window, group % MM_TERMS, group / MM_TERMS * SUM_ENTRIES, mm_partial, table,
                       mm_energies, shared_sums);
  } else if (group < sums + pair_groups) {
    const int first = (group - sums) * PAIRS_PER_GROUP;
    const int end = min(first + PAIRS_PER_GROUP, pairs);
    const Response response = {components, responses, molecule_response, 0};
    for (int pair = first + (int)get_local_id(0); pair < end; pair += DECIDE_GROUP) {
      difference_of_candidates(window, pair / window.candidates, pair % window.candidates, plan,
                               table, response, differences);
    }
  } else {
    grid_sums_of_candidates(constants, window.layout.sites, site_capacity, grid_parts,
                            window.candidates, (group - sums - pair_groups) * GRID_SUMS_PER_GROUP,
                            GRID_SUMS_PER_GROUP, sites, grid_partials, grid_energies,
                            shared_sums);
  }
  if (!is_last_group(doubt_list + DOUBTS_ARRIVED, &last)) return;
  const Deciding deciding = DECIDING(0);
  decide_pass(&deciding, 0, occupation, shared);
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
  const int count = doubt_list[DOUBTS_COUNT];
  if (count > 0) {
    const Deciding deciding = DECIDING(1);
    answer_doubts(&deciding.exact, min(count, MOST_DOUBTS), doubt_list, answers, shared);
    if (!is_last_group(doubt_list + DOUBTS_ARRIVED, &last)) return;
    decide_pass(&deciding, 1, occupation, shared);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  } else if (get_group_id(0) != 0) {
    return;
  }
  if (next.steps == 0) return;
  const Proposal proposal = {next,        interaction,       range,       site_capacity,
                             topology_reals, topology_integers, chain_state, lattice,
                             plan,        entries,           outside,     sites};
  propose(&proposal, (__local int *)occupation);
}

#endif
