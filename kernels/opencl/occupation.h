/* What the steps of a window do, in local memory (kernels/decision.hpp). */
#ifndef STARPMC_OPENCL_OCCUPATION_H
#define STARPMC_OPENCL_OCCUPATION_H

#include "opencl/moves.h"
#include "opencl/response.h"

/* A group of one item, as on CPUs, waits for nobody; it is a plain loop to the compiler then. */
#if DECIDE_GROUP == 1
#define DECIDE_BARRIER(memory)
#else
#define DECIDE_BARRIER(memory) barrier(memory)
#endif

typedef struct {
  __local double *threshold; /* per step */
  __local double *total;     /* per step: energy change of the candidate tried */
  __local double *bound;     /* per step: on its error */
  __local double *change;    /* behind it: TERMS arrays, per step: what an accepted step changes;
                                all in all STEP_ENERGIES arrays */
  __local long *responded;   /* per component: Y after the steps so far; of a group of one item */
  __local int *first;        /* per step: its first candidate */
  __local int *earlier;      /* per step: the molecule's step before, or -1 - its slot */
  __local int *later;        /* per step: whether the molecule has a step after it */
  __local int *occupied;     /* per step: the entry its molecule occupies after it */
  __local int *outcome;      /* per step: the candidate that starts from where the molecule is, and
                                whether it is accepted and in doubt */
  __local int *accepted;     /* number of steps */
  __local int *work;         /* of a group of many items (decide_teams.h) */
} Occupation;

/* All a step's readers need in one word. */
#define OUTCOME(tried, accepted, doubtful) ((tried) << 2 | (accepted) << 1 | (doubtful))
#define OUTCOME_TRIED(outcome) ((outcome) >> 2)
#define OUTCOME_ACCEPTED(outcome) ((outcome) >> 1 & 1)
#define OUTCOME_DOUBTFUL(outcome) ((outcome)&1)

static inline Occupation occupation_in(WindowShape window, int components,
                                       __local double *shared) {
  Occupation o;
  o.threshold = shared;
  o.total = o.threshold + window.steps;
  o.bound = o.total + window.steps;
  o.change = o.bound + window.steps;
  o.responded = (__local long *)(o.bound + STEP_ENERGIES * window.steps);
  o.first = (__local int *)(o.responded + (DECIDE_GROUP == 1 ? components : 0));
  o.earlier = o.first + window.steps;
  o.later = o.earlier + window.steps;
  o.occupied = o.later + window.steps;
  o.outcome = o.occupied + window.steps;
  o.accepted = o.outcome + window.steps;
  o.work = o.accepted + 1;
  return o;
}

static inline void load_steps(WindowShape window, __global const int *plan,
                              __global const double *entries, Occupation o) {
  const WindowLayout layout = window.layout;
  const int item = (int)get_local_id(0);
  __local int *slots = o.occupied; /* not in use yet */
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    o.threshold[index] = entries[entries_threshold(layout) + index];
    o.first[index] = plan[plan_step_first(layout) + index];
    slots[index] = plan[plan_step_slot(layout) + index];
    o.later[index] = 0;
  }
  if (item == 0) *o.accepted = 0;
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    const int slot = slots[index];
    o.earlier[index] = -1 - slot;
    if (plan[plan_step_visit(layout) + index] == 0) continue;
    int earlier = 0;
    _Pragma("unroll 8") for (int k = 0; k < index; ++k) earlier = slots[k] == slot ? k : earlier;
    o.earlier[index] = earlier;
    o.later[earlier] = 1;
  }
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    o.occupied[index] = start_entry(layout, slots[index]); /* before anything is decided */
  }
}

/* The entry the molecule of a step occupies before it. */
static inline int occupied_from(WindowShape window, Occupation o, int index) {
  const int earlier = o.earlier[index];
  return earlier >= 0 ? o.occupied[earlier] : start_entry(window.layout, -1 - earlier);
}

/* Where the energies of a window are. */
typedef struct {
  __global const double *grid;   /* null: none */
  __global const double *nuclei; /* null: none */
  __global const double *mm;
} WindowEnergies;

/* An energy of an entry with the solute: of a candidate computed, of a start position cached. */
static inline double field_energy(WindowShape window, __global const int *plan,
                                  WindowEnergies energies, __global const double *field_cache,
                                  int field, int entry) {
  const WindowLayout layout = window.layout;
  if (entry >= layout.candidates) {
    const int molecule = plan[plan_start_molecule(layout) + entry - layout.candidates];
    return field_cache[field * layout.molecules + molecule];
  }
  if (field >= STATIC_TERMS) {
    return energies.grid ? energies.grid[(field - STATIC_TERMS) * layout.candidates + entry] : 0;
  }
  return energies.nuclei ? energies.nuclei[field * layout.candidates + entry] : 0;
}

/* Changes of Y by what the window did, RESPONSE_PARTS of each component's. No barriers here: PoCL
   compiles those inside of branches for a very long time. */
static inline void sum_responses(WindowShape window, __global const int *plan, Occupation o,
                                 Response response, __global ulong *sums) {
  const int components = response.components;
  for (int task = (int)get_local_id(0); task < RESPONSE_PARTS * components;
       task += DECIDE_GROUP) {
    const int part = task / components;
    const int k = task - part * components;
    long sum = 0;
    for (int index = part; index < window.steps; index += RESPONSE_PARTS) {
      const int entry = o.occupied[index];
      const int left = !o.later[index] && entry < window.layout.candidates;
      const int molecule = plan[plan_step_molecule(window.layout) + index];
      const int change = response.candidates[(left ? entry : 0) * components + k] -
                         response.molecules[molecule * components + k];
      sum += left ? change : 0;
    }
    sums[task] = (ulong)sum;
  }
}

/* Y, and y of molecules that moved. */
static inline void store_responses(WindowShape window, __global const int *plan, Occupation o,
                                   Response response, __global const ulong *sums) {
  const int components = response.components;
  for (int k = (int)get_local_id(0); k < components; k += DECIDE_GROUP) {
    ulong total = (ulong)response.total[k];
    for (int part = 0; part < RESPONSE_PARTS; ++part) total += sums[part * components + k];
    response.total[k] = (long)total;
  }
  for (int task = (int)get_local_id(0); task < window.steps * components; task += DECIDE_GROUP) {
    const int index = task / components;
    const int k = task - index * components;
    const int entry = o.occupied[index];
    if (o.later[index] || entry >= window.layout.candidates) continue;
    const int molecule = plan[plan_step_molecule(window.layout) + index];
    response.molecules[molecule * components + k] = response.candidates[entry * components + k];
  }
}

/* Puts molecules that moved where they are now. */
static inline void store_occupation(WindowShape window, Interaction interaction,
                                    __global const int *plan, __global const double *entries,
                                    WindowEnergies energies, Occupation o,
                                    __global double *lattice, __global coordinate *lattice_sites,
                                    __global double *field_cache) {
  const int stride = window.layout.molecules;
  const int capacity = entry_capacity(window.layout);
  for (int index = (int)get_local_id(0); index < window.steps; index += DECIDE_GROUP) {
    const int entry = o.occupied[index];
    if (o.later[index] || entry >= window.layout.candidates) continue;
    const int molecule = plan[plan_step_molecule(window.layout) + index];
    /* Loads on their way together: none goes past a store that may be to its place. */
    double pose[POSE_FIELDS];
    _Pragma("unroll") for (int field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = entries[field * capacity + entry];
    }
    for (int site = 0; site < window.layout.sites; ++site) {
      double displacement[3];
      _Pragma("unroll") for (int k = 0; k < 3; ++k) {
        displacement[k] = entries[(POSE_FIELDS + 3 * site + k) * capacity + entry];
      }
      _Pragma("unroll") for (int k = 0; k < 3; ++k) {
        lattice_sites[(3 * site + k) * stride + molecule] =
            stored_site(pose[k], displacement[k], interaction.box[k]);
      }
    }
    _Pragma("unroll") for (int field = 0; field < POSE_FIELDS; ++field) {
      lattice[field * stride + molecule] = pose[field];
    }
    for (int k = 0; k < FIELDS; ++k) {
      field_cache[k * stride + molecule] =
          field_energy(window, plan, energies, field_cache, k, entry);
    }
  }
}

/* A candidate that would leave the region that steps are confined to stays where it is, which counts
   as a rejection (confine_pose). */
static inline int is_move(WindowShape window, __global const double *entries,
                          __global const double *chain_state, int from, int to) {
  const int capacity = entry_capacity(window.layout);
  int moved = chain_state[STATE_REGION_MOLECULES] <= 0;
  for (int field = 0; field < POSE_FIELDS && !moved; ++field) {
    moved = entries[field * capacity + from] != entries[field * capacity + to];
  }
  return moved;
}

/* Running totals after each step, and the counts of the chain. */
static inline void write_records(WindowShape window, __global const int *plan,
                                 __global const double *entries, WindowEnergies energies,
                                 __global const double *field_cache, Occupation o,
                                 __global double *chain_state, __global double *record) {
  const int item = (int)get_local_id(0);
  const int steps = window.layout.steps;
  int not_finite = 0;
  int accepted = 0;
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    const int to = o.occupied[index];
    const int from = occupied_from(window, o, index);
    for (int k = 0; k < FIELDS; ++k) {
      o.change[(MM_TERMS + k) * window.steps + index] =
          field_energy(window, plan, energies, field_cache, k, to) -
          field_energy(window, plan, energies, field_cache, k, from);
    }
    const int moved = to != from && is_move(window, entries, chain_state, from, to);
    record[RECORD_ACCEPTED * steps + index] = moved;
    accepted += moved;
    for (int term = 0; term < MM_TERMS && to == from; ++term) {
      o.change[term * window.steps + index] = 0;
    }
    if (to == from) o.change[TERM_QMMM_POLARISATION * window.steps + index] = 0;
    if (!isfinite(o.total[index])) not_finite = 1;
  }
  if (not_finite) chain_state[STATE_NOT_FINITE] = 1;
  if (accepted > 0) atomic_add(o.accepted, accepted);
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);
  for (int term = item; term < TERMS; term += DECIDE_GROUP) {
    double total = chain_state[STATE_TERMS + term];
    _Pragma("unroll 8") for (int index = 0; index < window.steps; ++index) {
      total += o.change[term * window.steps + index];
      record[(RECORD_TERMS + term) * steps + index] = total;
    }
    chain_state[STATE_TERMS + term] = total;
  }
  if (item == DECIDE_GROUP - 1) {
    chain_state[STATE_ACCEPTED] += *o.accepted;
    chain_state[STATE_PROPOSED] += window.steps;
  }
}

#endif
