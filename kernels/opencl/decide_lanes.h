/* Decisions one after another, by one item. */
#ifndef STARPMC_OPENCL_DECIDE_LANES_H
#define STARPMC_OPENCL_DECIDE_LANES_H

#include "opencl/decide_pass.h"

#if DECIDE_GROUP == 1

/* What accepting each candidate would change, kept up to date. */
typedef struct {
  double mm[MM_TERMS][MOST_CANDIDATES];
  double field[MOST_CANDIDATES];
  double magnitude[MOST_CANDIDATES];
} Candidates;

static inline void take_row(const Pass *pass, int accepted, int first, Candidates *candidates) {
  const int count = pass->window.candidates;
  const int matrix = count * count;
  __global const double *row = pass->differences + accepted * count;
  for (int candidate = first; candidate < count; ++candidate) {
    _Pragma("unroll") for (int term = 0; term < MM_TERMS; ++term) {
      candidates->mm[term][candidate] += row[term * matrix + candidate];
    }
    candidates->magnitude[candidate] += row[DIFFERENCE_MAGNITUDE * matrix + candidate];
  }
}

/* Eq. 1 of Miranda et al. 2016 for the step's candidate that starts from where the molecule is. */
static inline void try_step(const Pass *pass, Occupation o, int index, int from, int next,
                            const Candidates *candidates) {
  __global const int *parents = pass->plan + plan_candidate_parent(pass->window.layout);
  int tried = o.first[index];
  while (tried + 1 < next && parents[tried] != from) ++tried;
  double total = 0;
  for (int term = 0; term < MM_TERMS; ++term) total += candidates->mm[term][tried];
  double polarisation = 0;
  if (pass->response.components > 0) {
    __global const int *before = response_of(pass->window, pass->plan, pass->response, from);
    __global const int *after = response_of(pass->window, pass->plan, pass->response, tried);
    polarisation = response_change_energy(response_change_units_so_far(
        before, after, o.responded, 0, 1, pass->response.components));
  }
  total += polarisation;
  total += candidates->field[tried];
  const double error = decision_error_bound(pass->bound, candidates->magnitude[tried]);
  o.outcome[index] = OUTCOME(tried, total < o.threshold[index],
                             pass->certify && fabs(total - o.threshold[index]) <= error);
  o.total[index] = total;
  o.bound[index] = error;
  for (int term = 0; term < MM_TERMS; ++term) {
    o.change[term * pass->window.steps + index] = candidates->mm[term][tried];
  }
  o.change[TERM_QMMM_POLARISATION * pass->window.steps + index] = polarisation;
}

/* Y of a molecule at `to` instead of at `from`. */
static inline void respond(const Pass *pass, Occupation o, int from, int to) {
  __global const int *before = response_of(pass->window, pass->plan, pass->response, from);
  __global const int *after = response_of(pass->window, pass->plan, pass->response, to);
  for (int k = 0; k < pass->response.components; ++k) o.responded[k] += after[k] - before[k];
}

static inline void decide_steps(const Pass *pass, const ExactSources *sources, Doubts *doubts,
                                Occupation o) {
  const int steps = pass->window.steps;
  Candidates candidates;
  for (int candidate = 0; candidate < pass->window.candidates; ++candidate) {
    const OwnChange own = own_change(pass, candidate);
    for (int term = 0; term < MM_TERMS; ++term) candidates.mm[term][candidate] = own.mm[term];
    candidates.field[candidate] = own.field;
    candidates.magnitude[candidate] = own.magnitude;
  }
  for (int k = 0; k < pass->response.components; ++k) o.responded[k] = pass->response.total[k];
  for (int index = 0; index < steps; ++index) {
    const int next = index + 1 < steps ? o.first[index + 1] : pass->window.candidates;
    const int from = occupied_from(pass->window, o, index);
    try_step(pass, o, index, from, next, &candidates);
    const int outcome = o.outcome[index];
    const int tried = OUTCOME_TRIED(outcome);
    int accepted = OUTCOME_ACCEPTED(outcome);
    if (OUTCOME_DOUBTFUL(outcome)) {
      const ulong units =
          exact_change_part(sources, doubts, index, from, tried, pass->with_points, pass->shared);
      if (!pass->with_points) list_doubt(doubts, index, from, tried);
      accepted = settle_by(pass, doubts, o, index, from, tried, units);
    }
    o.occupied[index] = accepted ? tried : from;
    doubts->list[DOUBTS_TAKEN + index] = accepted ? tried : -1;
    if (accepted) take_row(pass, tried, next, &candidates);
    if (accepted && pass->response.components > 0) respond(pass, o, from, tried);
  }
}

#endif

#endif
