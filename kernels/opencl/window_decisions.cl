#include "opencl/window_decisions.h"

#if DECIDES_IN_TWO_LAUNCHES

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
