/* One pass over the steps of a window: what its candidates' acceptance would change, kept up to date
   with what the steps before did. */
#ifndef STARPMC_OPENCL_DECIDE_STEPS_H
#define STARPMC_OPENCL_DECIDE_STEPS_H

#include "opencl/doubts.h"

/* What a pass is made with; `second`: doubts have answers. */
typedef struct {
  WindowShape window;
  DecisionBound bound;
  int certify;
  int second;
  __global const double *differences;
  __global double *chain_state;
  __local ulong *shared;
} Pass;

#if STARPMC_CPU_DEVICE
#define OWN_CANDIDATES(window) ((window.candidates + DECIDE_GROUP - 1) / DECIDE_GROUP)
#define OWN_UNROLL
#else
#define OWN_CANDIDATES(window) CANDIDATES_PER_ITEM
#define OWN_UNROLL _Pragma("unroll") /* registers have no index */
#endif
#define CANDIDATE_OF_ITEM(j) ((int)get_local_id(0) + (j)*DECIDE_GROUP)

/* The candidates of one item: what accepting each would change, kept up to date. */
typedef struct {
  double coulomb[CANDIDATES_PER_ITEM];
  double vdw[CANDIDATES_PER_ITEM];
  double field[CANDIDATES_PER_ITEM];     /* energy with the solute */
  double magnitude[CANDIDATES_PER_ITEM]; /* of the energies behind it */
  int step[CANDIDATES_PER_ITEM];         /* -1: no such candidate */
  int parent[CANDIDATES_PER_ITEM];
} OwnCandidates;

static inline void load_candidates(WindowShape window, __global const int *plan,
                                   WindowEnergies energies, __global const double *field_cache,
                                   OwnCandidates *own) {
  const int rows = entry_capacity(window.layout);
  OWN_UNROLL for (int j = 0; j < OWN_CANDIDATES(window); ++j) {
    const int candidate = min(CANDIDATE_OF_ITEM(j), window.candidates - 1);
    const int from = plan[plan_candidate_parent(window.layout) + candidate];
    own->parent[j] = from;
    own->step[j] = candidate == CANDIDATE_OF_ITEM(j)
                       ? plan[plan_candidate_step(window.layout) + candidate]
                       : -1;
    own->coulomb[j] = energies.mm[candidate] - energies.mm[from];
    own->vdw[j] = energies.mm[rows + candidate] - energies.mm[rows + from];
    own->field[j] = 0;
    own->magnitude[j] = fabs(energies.mm[candidate]) + fabs(energies.mm[from]) +
                        fabs(energies.mm[rows + candidate]) + fabs(energies.mm[rows + from]);
    for (int field = 0; field < FIELDS; ++field) {
      const double there =
          field_energy(window, plan, energies, field_cache, field, candidate);
      const double here = field_energy(window, plan, energies, field_cache, field, from);
      own->field[j] += there - here;
      own->magnitude[j] += fabs(there) + fabs(here);
    }
  }
}

/* Eq. 1 of Miranda et al. 2016 for the candidate of a step that starts from where the molecule is. */
static inline void try_candidate(const Pass *pass, Occupation o, int index, int candidate,
                                 int parent, double coulomb, double vdw, double field,
                                 double magnitude, double threshold) {
  const double total = (coulomb + vdw) + field;
  const double error = decision_error_bound(pass->bound, magnitude);
  const int accepted = total < threshold;
  o.outcome[index] =
      OUTCOME(candidate, accepted, pass->certify && fabs(total - threshold) <= error);
  o.occupied[index] = accepted ? candidate : parent;
  o.total[index] = total;
  o.bound[index] = error;
  o.change[TERM_MM_COULOMB * pass->window.steps + index] = coulomb;
  o.change[TERM_MM_VDW * pass->window.steps + index] = vdw;
}

/* The candidate a step accepts, or -1. In the first pass steps in doubt go the way their
   approximate energies say, and are listed. */
static inline int accepted_by(const Pass *pass, const ExactSources *sources, Doubts *doubts,
                              Occupation o, int index) {
  const int outcome = o.outcome[index];
  int accepted = OUTCOME_ACCEPTED(outcome);
  if (OUTCOME_DOUBTFUL(outcome)) {
    const int from = occupied_from(pass->window, o, index);
    if (pass->second) {
      accepted = settle(sources, doubts, o, index, from, pass->chain_state, pass->shared);
    } else {
      list_doubt(doubts, index, from, OUTCOME_TRIED(outcome));
    }
    ++doubts->met;
  }
  const int taken = accepted ? OUTCOME_TRIED(outcome) : -1;
  if (get_local_id(0) == 0) doubts->list[DOUBTS_TAKEN + index] = taken;
  return taken;
}

#if STARPMC_CPU_DEVICE

static inline void take_row(const Pass *pass, int accepted, int first, OwnCandidates *own) {
  const int candidates = pass->window.candidates;
  const int matrix = candidates * candidates;
  __global const double *row = pass->differences + accepted * candidates;
  for (int candidate = first; candidate < candidates; ++candidate) {
    own->coulomb[candidate] += row[DIFFERENCE_COULOMB * matrix + candidate];
    own->vdw[candidate] += row[DIFFERENCE_VDW * matrix + candidate];
    own->magnitude[candidate] += row[DIFFERENCE_MAGNITUDE * matrix + candidate];
  }
}

/* One item has all candidates. */
static inline void decide_steps(const Pass *pass, const ExactSources *sources, Doubts *doubts,
                                Occupation o, OwnCandidates *own) {
  const int steps = pass->window.steps;
  for (int index = 0; index < steps; ++index) {
    const int next = index + 1 < steps ? o.first[index + 1] : pass->window.candidates;
    const int from = occupied_from(pass->window, o, index);
    for (int candidate = o.first[index]; candidate < next; ++candidate) {
      if (own->parent[candidate] != from) continue;
      try_candidate(pass, o, index, candidate, from, own->coulomb[candidate], own->vdw[candidate],
                    own->field[candidate], own->magnitude[candidate], o.threshold[index]);
    }
    const int accepted = accepted_by(pass, sources, doubts, o, index);
    if (accepted >= 0) take_row(pass, accepted, next, own);
  }
}

#else

/* A step waits for the one before, so each must be short: its group looks at the candidates of
   DECIDE_BATCH steps only, one per item, and brings the others up to date afterwards. */
typedef struct {
  double coulomb, vdw, field, magnitude, threshold;
  int candidate;
  int step; /* -1: none */
  int parent;
  int earlier; /* the molecule's step before, where it is of the batch */
  int alive;   /* the molecule is at the parent */
} Contender;

/* The item's candidate in [first, last), at most one. */
static inline Contender contender_of(const Pass *pass, Occupation o, const OwnCandidates *own,
                                     int begin, int first, int last) {
  Contender c = {0, 0, 0, 0, 0, -1, -1, 0, -1, 0};
  _Pragma("unroll") for (int j = 0; j < CANDIDATES_PER_ITEM; ++j) {
    const int candidate = CANDIDATE_OF_ITEM(j);
    if (candidate < first || candidate >= last) continue;
    c.candidate = candidate;
    c.coulomb = own->coulomb[j];
    c.vdw = own->vdw[j];
    c.field = own->field[j];
    c.magnitude = own->magnitude[j];
    c.step = own->step[j];
    c.parent = own->parent[j];
  }
  if (c.step < 0) return c;
  c.threshold = o.threshold[c.step];
  const int earlier = o.earlier[c.step];
  if (earlier >= begin) {
    c.earlier = earlier;
  } else {
    c.alive = c.parent == occupied_from(pass->window, o, c.step);
  }
  return c;
}

/* One candidate's changes by the acceptance of another. */
typedef struct {
  double coulomb, vdw, magnitude;
} Difference;

static inline Difference difference_by(const Pass *pass, int accepted, int candidate) {
  const int matrix = pass->window.candidates * pass->window.candidates;
  __global const double *at = pass->differences + accepted * pass->window.candidates + candidate;
  return (Difference){at[DIFFERENCE_COULOMB * matrix], at[DIFFERENCE_VDW * matrix],
                      at[DIFFERENCE_MAGNITUDE * matrix]};
}

/* A step's first candidate is nearly always the one that matters, and known before the steps ahead
   of it are decided. */
static inline Difference read_ahead(const Pass *pass, Occupation o, const Contender *mine,
                                    int index) {
  Difference none = {0, 0, 0};
  return mine->step > index ? difference_by(pass, o.first[index], mine->candidate) : none;
}

/* Brings the candidates [first, ...) up to date with a batch's accepted ones. */
static inline void take_batch(const Pass *pass, Occupation o, int taken, int first,
                              OwnCandidates *own) {
  _Pragma("unroll") for (int j = 0; j < CANDIDATES_PER_ITEM; ++j) {
    const int candidate = CANDIDATE_OF_ITEM(j);
    if (candidate < first || candidate >= pass->window.candidates) continue;
    _Pragma("unroll 8") for (int k = 0; k < taken; ++k) {
      const Difference difference = difference_by(pass, o.taken[k], candidate);
      own->coulomb[j] += difference.coulomb;
      own->vdw[j] += difference.vdw;
      own->magnitude[j] += difference.magnitude;
    }
  }
}

/* Differences are read STEPS_AHEAD steps ahead, each into registers of its own: an array of them
   would live in memory. */
#define STEPS_AHEAD 4
#define DECIDE_STEP(STEP, AHEAD)                                                              \
  if ((STEP) < end) {                                                                         \
    const int index = (STEP);                                                                 \
    if (mine.step == index && mine.alive) {                                                   \
      try_candidate(pass, o, index, mine.candidate, mine.parent, mine.coulomb, mine.vdw,      \
                    mine.field, mine.magnitude, mine.threshold);                              \
    }                                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                             \
    const int accepted = accepted_by(pass, sources, doubts, o, index);                        \
    if (mine.earlier == index) mine.alive = o.occupied[index] == mine.parent;                 \
    if (accepted >= 0) {                                                                      \
      if (get_local_id(0) == 0) o.taken[taken] = accepted;                                    \
      ++taken;                                                                                \
      if (mine.step > index) {                                                                \
        if (accepted != o.first[index]) AHEAD = difference_by(pass, accepted, mine.candidate); \
        mine.coulomb += AHEAD.coulomb;                                                        \
        mine.vdw += AHEAD.vdw;                                                                \
        mine.magnitude += AHEAD.magnitude;                                                    \
      }                                                                                       \
    }                                                                                         \
    AHEAD = read_ahead(pass, o, &mine, index + STEPS_AHEAD);                                  \
  }

static inline void decide_steps(const Pass *pass, const ExactSources *sources, Doubts *doubts,
                                Occupation o, OwnCandidates *own) {
  const int steps = pass->window.steps;
  for (int begin = 0; begin < steps; begin += DECIDE_BATCH) {
    const int end = min(begin + DECIDE_BATCH, steps);
    const int last = end < steps ? o.first[end] : pass->window.candidates;
    Contender mine = contender_of(pass, o, own, begin, o.first[begin], last);
    Difference ahead0 = read_ahead(pass, o, &mine, begin);
    Difference ahead1 = read_ahead(pass, o, &mine, begin + 1);
    Difference ahead2 = read_ahead(pass, o, &mine, begin + 2);
    Difference ahead3 = read_ahead(pass, o, &mine, begin + 3);
    int taken = 0;
    for (int base = begin; base < end; base += STEPS_AHEAD) {
      DECIDE_STEP(base, ahead0)
      DECIDE_STEP(base + 1, ahead1)
      DECIDE_STEP(base + 2, ahead2)
      DECIDE_STEP(base + 3, ahead3)
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* the list of those taken */
    take_batch(pass, o, taken, last, own);
  }
}

#endif

#endif
