/* Steps that the error bound leaves open, and their settlement: first by exact energies of all but the
   density, and its quick energy, unless the error of that could matter. Few steps remain for the
   second pass, by exact energies with the density's points. */
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

/* Behind that: where the group that decides asks others of its launch to take parts of an exact change, and
   they tell what they took (help.h). All 0 as a launch begins. */
#define BOARD_ASKED 0 /* questions so far; BOARD_END: no more will come */
#define BOARD_INDEX 1 /* of the last one */
#define BOARD_FROM 2
#define BOARD_TO 3
#define BOARD_CLAIMED 4 /* per question: parts given out */
#define BOARD_DONE (BOARD_CLAIMED + MOST_DOUBTS) /* and parts that others have written */
#define BOARD_SIZE (BOARD_DONE + MOST_DOUBTS)
#define BOARD_END 0x7FFFFFFF

/* The steps in doubt as one pass lists them and the next one finds them answered. */
typedef struct {
  __global int *list;
  __global const ulong *answers; /* per doubt: shares of `shares` groups */
  int shares;
  int answered; /* doubts that have an answer under the history so far */
  int met;      /* doubts met so far */
  int open;     /* of those, steps that the density's error leaves open */
  double largest_error; /* of the others, in terms of its bound */
  int parts;            /* of an exact change, others taking some; 1: this group is alone */
  volatile __global int *board;
  __global ulong *parts_of_others;
} Doubts;

/* As exact_near of exact_blocks.hpp. */
static inline double exact_near(ulong units, double quick) {
  const double energy = (double)as_long(units) / STARPMC_ENERGY_UNITS;
  return energy + STARPMC_ENERGY_RANGE * rint((quick - energy) / STARPMC_ENERGY_RANGE);
}

#include "opencl/help.h"

/* An item's part of the exact change of a step in doubt: from the list, or else by this
   group, and those that help it. */
static inline ulong exact_change_part(const ExactSources *sources, const Doubts *doubts, int index,
                                      int from, int to, int with_points, __local ulong *shared) {
  if (doubts->met >= doubts->answered) {
#if LAST_GROUP_GOES_ON
    if (doubts->parts > 1 && doubts->met < MOST_DOUBTS) {
      return helped_change_part(sources, doubts, index, from, to, shared);
    }
#endif
    return exact_change_share(sources, index, from, to, with_points, 0, 1);
  }
  ulong units = 0;
  __global const ulong *shares = doubts->answers + doubts->met * doubts->shares;
  for (int i = (int)get_local_id(0); i < doubts->shares; i += DECIDE_GROUP) units += shares[i];
  return units;
}

/* For the second pass, should there be one. */
static inline void list_doubt(const Doubts *doubts, int index, int from, int to) {
  if (get_local_id(0) != 0 || doubts->met >= MOST_DOUBTS) return;
  __global int *doubt = doubts->list + DOUBTS_HEADER + DOUBT_FIELDS * doubts->met;
  doubt[DOUBT_INDEX] = index;
  doubt[DOUBT_FROM] = from;
  doubt[DOUBT_TO] = to;
}

/* Whether a step in doubt is accepted, by its energy change, off by `error` at most. Where that leaves it
   open, what was decided stays. Where it overturns that, the answers to later doubts may belong to
   another history. */
static inline int settle(Doubts *doubts, Occupation o, int index, double change, double error) {
  const int decided = OUTCOME_ACCEPTED(o.outcome[index]);
  ++doubts->met;
  if (error > 0 && fabs(change - o.threshold[index]) <= error) {
    ++doubts->open;
    return decided;
  }
  const int accepted = change < o.threshold[index];
  if (accepted != decided) doubts->answered = 0;
  doubts->largest_error =
      fmax(doubts->largest_error, fabs(o.total[index] - change) / o.bound[index]);
  return accepted;
}

#endif
