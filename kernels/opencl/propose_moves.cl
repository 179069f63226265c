#include "opencl/propose.h"

/* picks: local memory, 5 integers per step */
__kernel GROUP_OF(PROPOSE_GROUP) void propose_moves(
    WindowShape window, Interaction interaction, StepRange range, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(chain_state), BUFFER(lattice), BUFFER(plan), BUFFER(entries),
    BUFFER(outside), int site_capacity, BUFFER(sites), __local int *picks) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(double, chain_state);
  CONSTANT_ARRAY(double, lattice);
  ARRAY(int, plan);
  ARRAY(double, entries);
  ARRAY(real, outside);
  ARRAY(double, sites);
  const Proposal proposal = {window,      interaction,       range,       site_capacity,
                             topology_reals, topology_integers, chain_state, lattice,
                             plan,        entries,           outside,     sites};
  propose(&proposal, picks);
}
