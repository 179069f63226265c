/* Steps that the error bound leaves open, and their settlement by exact energies. */
#ifndef STARPMC_OPENCL_DOUBTS_H
#define STARPMC_OPENCL_DOUBTS_H

#include "opencl/exact_change.h"
#include "opencl/occupation.h"

#if DECIDE_GROUP == 1
#define DECIDE_SUM(units, shared) (units)
#else
#define DECIDE_SUM(units, shared) group_sum_units(units, shared)
#endif

/* Steps to evaluate again, exactly: a header, then per step of the list (index, from, to), then what
   every step of the window did. */
#define DOUBTS_COUNT 0
#define DOUBTS_ARRIVED 1 /* groups, in launches whose last group goes on */
#define DOUBTS_HEADER 4
#define DOUBT_INDEX 0
#define DOUBT_FROM 1
#define DOUBT_TO 2
#define DOUBT_FIELDS 3
#define DOUBTS_TAKEN (DOUBTS_HEADER + DOUBT_FIELDS * MOST_DOUBTS)

/* The steps in doubt as one pass lists them and the next one finds them answered. */
typedef struct {
  __global int *list;
  __global const ulong *answers; /* per doubt: shares of `shares` groups */
  int shares;
  int answered; /* doubts that have an answer under the history so far */
  int met;      /* doubts met so far */
} Doubts;

/* As exact_near of exact_blocks.hpp. */
static inline double exact_near(ulong units, double quick) {
  const double energy = (double)as_long(units) / STARPMC_ENERGY_UNITS;
  return energy + STARPMC_ENERGY_RANGE * rint((quick - energy) / STARPMC_ENERGY_RANGE);
}

/* An item's part of the exact change of a step in doubt: from the list, or else by this
   group alone. */
static inline ulong exact_change_part(const ExactSources *sources, const Doubts *doubts, int index,
                                      int from, int to) {
  if (doubts->met >= doubts->answered) {
    return exact_change_share(sources, index, from, to, 0, 1);
  }
  ulong units = 0;
  __global const ulong *shares = doubts->answers + doubts->met * doubts->shares;
  for (int i = (int)get_local_id(0); i < doubts->shares; i += DECIDE_GROUP) units += shares[i];
  return units;
}

static inline ulong exact_change(const ExactSources *sources, const Doubts *doubts, int index,
                                 int from, int to, __local ulong *shared) {
  DECIDE_BARRIER(CLK_GLOBAL_MEM_FENCE); /* what the steps before did */
  return DECIDE_SUM(exact_change_part(sources, doubts, index, from, to), shared);
}

static inline void list_doubt(Doubts *doubts, int index, int from, int to) {
  if (get_local_id(0) == 0 && doubts->met < MOST_DOUBTS) {
    __global int *doubt = doubts->list + DOUBTS_HEADER + DOUBT_FIELDS * doubts->met;
    doubt[DOUBT_INDEX] = index;
    doubt[DOUBT_FROM] = from;
    doubt[DOUBT_TO] = to;
  }
  ++doubts->met;
}

/* A step in doubt, settled by its exact change: whether it is accepted. Where that overturns the first
   pass, the answers to later doubts belong to another history. */
static inline int settle(Doubts *doubts, Occupation o, int index, ulong units,
                         __global double *chain_state) {
  const double exact = exact_near(units, o.total[index]);
  const int accepted = exact < o.threshold[index];
  if (accepted != OUTCOME_ACCEPTED(o.outcome[index])) doubts->answered = 0;
  ++doubts->met;
  if (get_local_id(0) == 0) {
    chain_state[STATE_CERTIFIED] += 1;
    chain_state[STATE_LARGEST_ERROR] =
        fmax(chain_state[STATE_LARGEST_ERROR], fabs(o.total[index] - exact) / o.bound[index]);
  }
  return accepted;
}

#endif
