#include "opencl/chain_windows.h"
#include "opencl/window_decisions.h"

#if DECIDES_IN_TWO_LAUNCHES

/* propose_moves for the first window of each chain. */
__kernel GROUP_OF(PROPOSE_GROUP) void chains_propose(
    CHAINS_PARAMETERS, Interaction interaction, PLACE(topology_reals), PLACE(topology_integers),
    PLACE(chain_state), PLACE(lattice), PLACE(plan), PLACE(entries), PLACE(outside),
    PLACE(doubt_list), __local int *picks) {
  CHAIN_OF_GROUP
  CONSTANT_PLACED_ARRAY(double, topology_reals);
  CONSTANT_PLACED_ARRAY(int, topology_integers);
  CONSTANT_PLACED_ARRAY(double, chain_state);
  CONSTANT_PLACED_ARRAY(double, lattice);
  PLACED_ARRAY(int, plan);
  PLACED_ARRAY(double, entries);
  PLACED_ARRAY(real, outside);
  PLACED_ARRAY(int, doubt_list);
  if (get_local_id(0) == 0) {
    doubt_list[DOUBTS_COUNT] = 0;
    doubt_list[DOUBTS_ARRIVED] = 0;
  }
  const Proposal proposal = {own->next,      interaction,       own->next_range, 0,
                             topology_reals, topology_integers, chain_state,     lattice,
                             plan,           entries,           outside,         0};
  propose(&proposal, picks);
}

/* window_decide; there are no grid parts. */
__kernel GROUP_OF(DECIDE_GROUP) void chains_decide(CHAINS_PARAMETERS,
                                                   DECIDE_PARAMETERS_OF_ALL(PLACE),
                                                   PLACE(mm_partial), PLACE(table)) {
  __local double shared_sums[DECIDE_GROUP];
  __local ulong shared[DECIDE_GROUP];
  __local int last;
  CHAIN_OF_GROUP
  const WindowShape window = own->window;
  const StepTuning tuning = own->tuning;
  DECIDE_ARRAYS(OF_PLACE)
  WITHOUT_EXACT_ARRAYS(OF_PLACE)
  CONSTANT_PLACED_ARRAY(double, mm_partial);
  CONSTANT_PLACED_ARRAY(real, table);
  const Response response = {components, responses, molecule_response, 0};
  add_up_window(window, plan, mm_partial, table, response, mm_energies, differences, shared_sums);
  if (!is_last_group(doubt_list + DOUBTS_ARRIVED, &last)) return;
  const Deciding deciding = DECIDING(0);
  decide_pass(&deciding, 0, occupation, shared);
}

/* window_settle */
__kernel GROUP_OF(DECIDE_GROUP) void chains_settle(CHAINS_PARAMETERS,
                                                   DECIDE_PARAMETERS_OF_ALL(PLACE)
                                                       AND_EXACT_PARAMETERS(PLACE),
                                                   PLACE(outside)) {
  __local ulong shared[DECIDE_GROUP];
  __local int last;
  CHAIN_OF_GROUP
  const WindowShape window = own->window;
  const StepTuning tuning = own->tuning;
  DECIDE_ARRAYS(OF_PLACE)
  EXACT_ARRAYS(OF_PLACE)
  PLACED_ARRAY(real, outside);
  const Deciding deciding = DECIDING(1);
  if (!settle_doubts(&deciding, occupation, shared, &last) || own->next.steps == 0) return;
  const Proposal proposal = {own->next,      interaction,       own->next_range, 0,
                             topology_reals, topology_integers, chain_state,     lattice,
                             plan,           entries,           outside,         0};
  propose(&proposal, (__local int *)occupation);
}

#endif
