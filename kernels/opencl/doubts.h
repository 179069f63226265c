/* Steps that the error bound leaves open, and their settlement: first by exact energies of all but the
   density, and its quick energy, unless the error of that could matter. Few steps remain for the
   second pass, by exact energies with the density's points. */
#ifndef STARPMC_OPENCL_DOUBTS_H
#define STARPMC_OPENCL_DOUBTS_H

#include "opencl/doubt_list.h"
#include "opencl/exact_change.h"
#include "opencl/occupation.h"

#if DECIDE_GROUP == 1
#define DECIDE_SUM(units, shared) (units)
#else
#define DECIDE_SUM(units, shared) group_sum_units(units, shared)
#endif

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
