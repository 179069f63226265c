/* What both ways to decide a window's steps start from. */
#ifndef STARPMC_OPENCL_DECIDE_PASS_H
#define STARPMC_OPENCL_DECIDE_PASS_H

#include "opencl/doubts.h"

/* The energy change of a candidate by itself, but for the polarisation's. */
typedef struct {
  double mm[MM_TERMS];
  double field;     /* of all field terms */
  double magnitude; /* of the energies behind it */
} OwnChange;

/* What a pass over a window's steps is made with. */
typedef struct {
  WindowShape window;
  WindowEnergies energies;
  DecisionBound bound;
  int certify;
  int with_points;   /* exact changes have the density's points, too */
  int exact_density; /* the energies of the density terms are exact */
  Response response;
  __global const int *plan;
  __global const double *field_cache;
  __global const double *differences;
  __global double *own; /* per candidate: its own changes (OWN_FIELDS), for a group of many items */
  __global double *chain_state;
  __local ulong *shared;
} Pass;

/* Of the terms whose error is not 0: without a density the energies of its terms are exact. */
static inline OwnChange own_change(const Pass *pass, int candidate) {
  const WindowShape window = pass->window;
  const int rows = entry_capacity(window.layout);
  const int from = pass->plan[plan_candidate_parent(window.layout) + candidate];
  OwnChange own;
  own.field = 0;
  own.magnitude = 0;
  _Pragma("unroll") for (int term = 0; term < MM_TERMS; ++term) {
    const double there = pass->energies.mm[term * rows + candidate];
    const double here = pass->energies.mm[term * rows + from];
    own.mm[term] = there - here;
    own.magnitude += STARPMC_MAGNITUDE_WEIGHT(term) * (fabs(there) + fabs(here));
  }
  for (int field = 0; field < FIELDS; ++field) {
    const double there = field_energy(window, pass->plan, pass->energies, pass->field_cache, field,
                                      candidate);
    const double here = field_energy(window, pass->plan, pass->energies, pass->field_cache, field,
                                     from);
    own.field += there - here;
    if (field < STATIC_TERMS || !pass->exact_density) own.magnitude += fabs(there) + fabs(here);
  }
  return own;
}

/* Change of the terms that need no exact sums, in exact units. */
static inline ulong exact_already(const Pass *pass, Occupation o, int index, int from, int to) {
  if (!pass->exact_density) return 0;
  ulong units = exact_units(o.change[TERM_QMMM_POLARISATION * pass->window.steps + index]);
  for (int field = STATIC_TERMS; field < FIELDS; ++field) {
    units += exact_units(
        field_energy(pass->window, pass->plan, pass->energies, pass->field_cache, field, to) -
        field_energy(pass->window, pass->plan, pass->energies, pass->field_cache, field, from));
  }
  return units;
}

/* Whether step `index`, which is in doubt, is accepted. units: of its exact change, the density's points
   included as the pass says; without them their energies are what the window's kernels found. */
static inline int settle_by(const Pass *pass, Doubts *doubts, Occupation o, int index, int from,
                            int to, ulong units) {
  units += exact_already(pass, o, index, from, to);
  if (pass->with_points || pass->exact_density) {
    return settle(doubts, o, index, exact_near(units, o.total[index]), 0);
  }
  const int grid = FIELD_QMMM_GRID;
  const double there =
      field_energy(pass->window, pass->plan, pass->energies, pass->field_cache, grid, to);
  const double here =
      field_energy(pass->window, pass->plan, pass->energies, pass->field_cache, grid, from);
  const double quick = there - here;
  return settle(doubts, o, index, exact_near(units, o.total[index] - quick) + quick,
                grid_error_bound(pass->bound, fabs(there) + fabs(here)));
}

#endif
