/* Decisions of all steps at once, by a group of many items. A step depends on those before it, but
   weakly: most decide alike whatever the others do. So every step decides by what the others did
   last, again and again, until nothing changes. That is the outcome of one step after another: the
   first step is right from the start, and once those before a step are, it is right after the next
   round. Five rounds are usual. They guess, in fp32, and nothing depends on what they guess: rounds in
   fp64 go on from there until nothing changes, which is nearly always one. */
#ifndef STARPMC_OPENCL_DECIDE_TEAMS_H
#define STARPMC_OPENCL_DECIDE_TEAMS_H

#include "opencl/decide_pass.h"

#if DECIDE_GROUP > 1

#define DOUBTS_NONE 0x7FFFFFFF

/* Local memory of the rounds. */
typedef struct {
  __local int *tried;   /* per step: its candidate that starts from where the molecule was */
  __local int *settled; /* per step: 0: by its energy, 1: rejected, 2: accepted, exactly */
  __local int *taken;   /* the accepted candidates */
  __local uint *mask;   /* one bit per step: accepted */
  __local int *changed; /* whether a round changed anything */
  __local int *doubt;   /* the next one */
} Rounds;

static inline Rounds rounds_in(WindowShape window, Occupation o) {
  Rounds r;
  r.tried = o.work;
  r.settled = r.tried + window.steps;
  r.taken = r.settled + window.steps;
  r.changed = r.taken + window.steps;
  r.doubt = r.changed + 1;
  r.mask = (__local uint *)(r.doubt + 1);
  return r;
}

static inline void store_own_changes(const Pass *pass) {
  const int count = pass->window.candidates;
  for (int candidate = (int)get_local_id(0); candidate < count; candidate += DECIDE_GROUP) {
    const OwnChange own = own_change(pass, candidate);
    _Pragma("unroll") for (int term = 0; term < MM_TERMS; ++term) {
      pass->own[term * count + candidate] = own.mm[term];
    }
    /* Else it is there already (own_polarisation of window_sums.h). */
    if (pass->response.components == 0) pass->own[OWN_POLARISATION * count + candidate] = 0;
    pass->own[OWN_FIELD * count + candidate] = own.field;
    pass->own[OWN_MAGNITUDE * count + candidate] = own.magnitude;
  }
}

/* The step's candidate that starts from `from`. */
static inline int candidate_from(const Pass *pass, Occupation o, int index, int from) {
  __global const int *parents = pass->plan + plan_candidate_parent(pass->window.layout);
  int candidate = o.first[index];
  if (o.earlier[index] < 0) return candidate;
  while (parents[candidate] != from) ++candidate;
  return candidate;
}

/* Number of accepted steps before one. */
static inline int accepted_before(Rounds r, int index) {
  int count = (int)popcount(r.mask[index / 32] & ((1u << index % 32) - 1));
  for (int word = 0; word < index / 32; ++word) count += (int)popcount(r.mask[word]);
  return count;
}

/* What the steps tried and took last. */
static inline void list_taken(const Pass *pass, Occupation o, Rounds r) {
  const int item = (int)get_local_id(0);
  const int steps = pass->window.steps;
  for (int word = item; word < (steps + 31) / 32; word += DECIDE_GROUP) r.mask[word] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int index = item; index < steps; index += DECIDE_GROUP) {
    if (OUTCOME_ACCEPTED(o.outcome[index])) atomic_or(&r.mask[index / 32], 1u << index % 32);
    r.tried[index] =
        candidate_from(pass, o, index, occupied_from(pass->window, o, index));
  }
  if (item == 0) *r.changed = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int index = item; index < steps; index += DECIDE_GROUP) {
    const int outcome = o.outcome[index];
    if (OUTCOME_ACCEPTED(outcome)) r.taken[accepted_before(r, index)] = OUTCOME_TRIED(outcome);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Loads on their way together, those of a sum's end, too: each takes a GPU some 600 cycles. */
#define LOADED_AT_A_TIME 8
#define GUESSED_AT_A_TIME 16
/* The parts of the sum of a step's differences lie in o.bound and o.change. */
static inline __local double *difference_part(WindowShape window, Occupation o, int part, int k) {
  return o.bound + (part * DIFFERENCE_FIELDS + k) * window.steps;
}

static inline void sum_differences(const Pass *pass, Occupation o, Rounds r) {
  const int steps = pass->window.steps;
  const int count = pass->window.candidates;
  const int matrix = count * count;
  const int fields = DIFFERENCE_FIELDS - (pass->response.components == 0);
  for (int task = (int)get_local_id(0); task < DIFFERENCE_PARTS * steps; task += DECIDE_GROUP) {
    const int part = task / steps;
    const int index = task - part * steps;
    const int accepted = accepted_before(r, index);
    __global const double *column = pass->differences + r.tried[index];
    double sums[DIFFERENCE_FIELDS];
    _Pragma("unroll") for (int field = 0; field < DIFFERENCE_FIELDS; ++field) sums[field] = 0;
    for (int first = part; first < accepted; first += DIFFERENCE_PARTS * LOADED_AT_A_TIME) {
      _Pragma("unroll") for (int u = 0; u < LOADED_AT_A_TIME; ++u) {
        const int k = first + DIFFERENCE_PARTS * u;
        __global const double *at = column + r.taken[min(k, accepted - 1)] * count;
        _Pragma("unroll") for (int field = 0; field < DIFFERENCE_FIELDS; ++field) {
          sums[field] += k < accepted && field < fields ? at[field * matrix] : 0.0;
        }
      }
    }
    _Pragma("unroll") for (int field = 0; field < DIFFERENCE_FIELDS; ++field) {
      difference_part(pass->window, o, part, field)[index] = sums[field];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

static inline double summed_difference(WindowShape window, Occupation o, int k, int index) {
  double sum = 0;
  for (int part = 0; part < DIFFERENCE_PARTS; ++part) {
    sum += difference_part(window, o, part, k)[index];
  }
  return sum;
}

/* Eq. 1 of Miranda et al. 2016 for one step. */
static inline void try_step(const Pass *pass, Occupation o, Rounds r, int index) {
  const WindowShape window = pass->window;
  const int count = window.candidates;
  const int tried = r.tried[index];
  __global const double *own = pass->own + tried;
  double mm[MM_TERMS];
  double total = 0;
  _Pragma("unroll") for (int term = 0; term < MM_TERMS; ++term) {
    mm[term] = own[term * count] + summed_difference(window, o, term, index);
    total += mm[term];
  }
  const double polarisation = own[OWN_POLARISATION * count] +
                              summed_difference(window, o, DIFFERENCE_POLARISATION, index);
  total += polarisation;
  total += own[OWN_FIELD * count];
  const double magnitude = own[OWN_MAGNITUDE * count] +
                           summed_difference(window, o, DIFFERENCE_MAGNITUDE, index);
  const double error = decision_error_bound(pass->bound, magnitude);
  const int settled = r.settled[index];
  const int accepted = settled ? settled == 2 : total < o.threshold[index];
  const int outcome = OUTCOME(tried, accepted,
                              pass->certify && fabs(total - o.threshold[index]) <= error);
  if ((outcome ^ o.outcome[index]) >> 1) *r.changed = 1;
  o.outcome[index] = outcome;
  o.occupied[index] =
      accepted ? tried : pass->plan[plan_candidate_parent(window.layout) + tried];
  o.total[index] = total;
  o.bound[index] = error;
  _Pragma("unroll") for (int term = 0; term < MM_TERMS; ++term) {
    o.change[term * window.steps + index] = mm[term];
  }
  o.change[TERM_QMMM_POLARISATION * window.steps + index] = polarisation;
}

/* Guesses of what the steps do, by sums in fp32. They lie in o.bound. */
static inline void guess_steps(const Pass *pass, Occupation o, Rounds r) {
  const WindowShape window = pass->window;
  const int steps = window.steps;
  const int count = window.candidates;
  __local float *sums = (__local float *)o.bound; /* DIFFERENCE_PARTS per step */
  __global const float *quick =
      (__global const float *)(pass->differences + quick_differences(count));
  for (int task = (int)get_local_id(0); task < DIFFERENCE_PARTS * steps; task += DECIDE_GROUP) {
    const int part = task / steps;
    const int index = task - part * steps;
    const int accepted = accepted_before(r, index);
    __global const float *column = quick + r.tried[index];
    float sum = 0;
    for (int first = part; first < accepted; first += DIFFERENCE_PARTS * GUESSED_AT_A_TIME) {
      _Pragma("unroll") for (int u = 0; u < GUESSED_AT_A_TIME; ++u) {
        const int k = first + DIFFERENCE_PARTS * u;
        const float difference = column[r.taken[min(k, accepted - 1)] * count];
        sum += k < accepted ? difference : 0.0f;
      }
    }
    sums[task] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int index = (int)get_local_id(0); index < steps; index += DECIDE_GROUP) {
    const int tried = r.tried[index];
    __global const double *own = pass->own + tried;
    double total = 0;
    _Pragma("unroll") for (int k = 0; k <= OWN_FIELD; ++k) total += own[k * count];
    for (int part = 0; part < DIFFERENCE_PARTS; ++part) total += (double)sums[part * steps + index];
    const int settled = r.settled[index];
    const int accepted = settled ? settled == 2 : total < o.threshold[index];
    const int outcome = OUTCOME(tried, accepted, 0);
    if ((outcome ^ o.outcome[index]) >> 1) *r.changed = 1;
    o.outcome[index] = outcome;
    o.occupied[index] =
        accepted ? tried : pass->plan[plan_candidate_parent(window.layout) + tried];
  }
}

/* asked: whether there is anything to do; a loop's condition, since PoCL compiles all that follows a
   condition about barriers once more. */
static inline void make_rounds(const Pass *pass, Occupation o, Rounds r, int asked) {
  int changed = asked;
  while (changed) {
    list_taken(pass, o, r);
    guess_steps(pass, o, r);
    barrier(CLK_LOCAL_MEM_FENCE);
    changed = *r.changed;
  }
  changed = asked;
  while (changed) {
    list_taken(pass, o, r);
    sum_differences(pass, o, r);
    for (int index = (int)get_local_id(0); index < pass->window.steps; index += DECIDE_GROUP) {
      try_step(pass, o, r, index);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    changed = *r.changed;
  }
}

/* The first step in doubt after one, or DOUBTS_NONE. */
static inline int next_doubt(const Pass *pass, Occupation o, Rounds r, int after) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) *r.doubt = DOUBTS_NONE;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int index = (int)get_local_id(0); index < pass->window.steps; index += DECIDE_GROUP) {
    if (index > after && OUTCOME_DOUBTFUL(o.outcome[index])) atomic_min(r.doubt, index);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return *r.doubt;
}

static inline void tell_taken(const Pass *pass, const Doubts *doubts, Occupation o) {
  for (int index = (int)get_local_id(0); index < pass->window.steps; index += DECIDE_GROUP) {
    const int outcome = o.outcome[index];
    doubts->list[DOUBTS_TAKEN + index] =
        OUTCOME_ACCEPTED(outcome) ? OUTCOME_TRIED(outcome) : -1;
  }
}

/* Settles a step in doubt, if there is one, and lists it for a second pass: whether that overturns what was
   decided. All items meet the same barriers either way. */
static inline int settle_one(const Pass *pass, const ExactSources *sources, Doubts *doubts,
                             Occupation o, Rounds r, int index) {
  const int none = index == DOUBTS_NONE;
  const int outcome = none ? 0 : o.outcome[index];
  const int from = none ? 0 : occupied_from(pass->window, o, index);
  const int tried = OUTCOME_TRIED(outcome);
  ulong units = 0;
  DECIDE_BARRIER(CLK_GLOBAL_MEM_FENCE); /* what the steps before did */
  if (!none) {
    units = exact_change_part(sources, doubts, index, from, tried, pass->with_points, pass->shared);
  }
  units = DECIDE_SUM(units, pass->shared);
  int overturned = 0;
  if (!none) {
    if (!pass->with_points) list_doubt(doubts, index, from, tried);
    const int accepted = settle_by(pass, doubts, o, index, from, tried, units);
    if (get_local_id(0) == 0) r.settled[index] = accepted ? 2 : 1;
    overturned = accepted != OUTCOME_ACCEPTED(outcome);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return overturned;
}

static inline void decide_steps(const Pass *pass, const ExactSources *sources, Doubts *doubts,
                                Occupation o) {
  const Rounds r = rounds_in(pass->window, o);
  store_own_changes(pass);
  for (int index = (int)get_local_id(0); index < pass->window.steps; index += DECIDE_GROUP) {
    o.outcome[index] = OUTCOME(o.first[index], 0, 0);
    r.settled[index] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  /* One loop that ends at its end only: PoCL would compile what follows another exit once more. */
  int index = DOUBTS_NONE;
  int asked = 1;
  do {
    asked |= settle_one(pass, sources, doubts, o, r, index);
    make_rounds(pass, o, r, asked);
    if (asked) tell_taken(pass, doubts, o);
    index = next_doubt(pass, o, r, index == DOUBTS_NONE ? -1 : index);
    asked = 0;
  } while (index != DOUBTS_NONE);
}

#endif

#endif
