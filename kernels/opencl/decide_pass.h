/* What both ways to decide a window's steps start from. */
#ifndef STARPMC_OPENCL_DECIDE_PASS_H
#define STARPMC_OPENCL_DECIDE_PASS_H

#include "opencl/doubts.h"

/* The energy change of a candidate by itself. */
typedef struct {
  double mm[MM_TERMS];
  double field;     /* of all field terms */
  double magnitude; /* of the energies behind it */
} OwnChange;

static inline OwnChange own_change(WindowShape window, __global const int *plan,
                                   WindowEnergies energies, __global const double *field_cache,
                                   int candidate) {
  const int rows = entry_capacity(window.layout);
  const int from = plan[plan_candidate_parent(window.layout) + candidate];
  OwnChange own;
  own.field = 0;
  own.magnitude = 0;
  _Pragma("unroll") for (int term = 0; term < MM_TERMS; ++term) {
    const double there = energies.mm[term * rows + candidate];
    const double here = energies.mm[term * rows + from];
    own.mm[term] = there - here;
    own.magnitude += STARPMC_MAGNITUDE_WEIGHT(term) * (fabs(there) + fabs(here));
  }
  for (int field = 0; field < FIELDS; ++field) {
    const double there = field_energy(window, plan, energies, field_cache, field, candidate);
    const double here = field_energy(window, plan, energies, field_cache, field, from);
    own.field += there - here;
    own.magnitude += fabs(there) + fabs(here);
  }
  return own;
}

/* What a pass over a window's steps is made with; `second`: doubts have answers. */
typedef struct {
  WindowShape window;
  WindowEnergies energies;
  DecisionBound bound;
  int certify;
  int second;
  __global const int *plan;
  __global const double *field_cache;
  __global const double *differences;
  __global double *own; /* per candidate: its OwnChange, for a group of many items */
  __global double *chain_state;
  __local ulong *shared;
} Pass;

#endif
