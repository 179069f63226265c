#include "opencl/exact_change.h"

#define TUNING_STATE __global double *
#include "common/tuning.h"

/* A group of one item, as on CPUs, waits for nobody; it is a plain loop to the compiler then. */
#if DECIDE_GROUP == 1
#define DECIDE_BARRIER(memory)
#define DECIDE_SUM(units, shared) (units)
#else
#define DECIDE_BARRIER(memory) barrier(memory)
#define DECIDE_SUM(units, shared) group_sum_units(units, shared)
#endif

/* Steps to evaluate again, exactly: a header, then per step of the list (index, from, to), then what
   every step of the window did. */
#define DOUBTS_COUNT 0
#define DOUBTS_HEADER 4
#define DOUBT_INDEX 0
#define DOUBT_FROM 1
#define DOUBT_TO 2
#define DOUBT_FIELDS 3
#define DOUBTS_TAKEN (DOUBTS_HEADER + DOUBT_FIELDS * MOST_DOUBTS)

/* How the acceptance of one candidate changes the energy change of every later one: three square
   matrices (Coulomb, van der Waals, magnitude), a row per accepted candidate. */
#define DIFFERENCE_COULOMB 0
#define DIFFERENCE_VDW 1
#define DIFFERENCE_MAGNITUDE 2
#define DIFFERENCES 3

/* A work-item per pair of candidates. */
__kernel GROUP_OF(DIFFERENCE_GROUP) void candidate_differences(WindowShape window, BUFFER(plan),
                                                               BUFFER(table),
                                                               BUFFER(differences)) {
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(real, table);
  ARRAY(double, differences);
  const int rows = entry_capacity(window.layout);
  const int candidate = (int)get_global_id(0);
  const int accepted = (int)get_global_id(1);
  if (candidate >= window.candidates) return;
  __global const int *steps = plan + plan_candidate_step(window.layout);
  if (steps[accepted] >= steps[candidate]) return;
  __global const int *parents = plan + plan_candidate_parent(window.layout);
  const int left = parents[accepted];
  const int from = parents[candidate];
  double change[2];
  double magnitude = 0;
  for (int term = 0; term < 2; ++term) {
    __global const real *gone = table + (term * rows + left) * rows;
    __global const real *come = table + (term * rows + accepted) * rows;
    const double there = (double)come[candidate] - (double)gone[candidate];
    const double here = (double)come[from] - (double)gone[from];
    change[term] = there - here;
    magnitude += fabs(there) + fabs(here);
  }
  const int at = accepted * window.candidates + candidate;
  const int matrix = window.candidates * window.candidates;
  differences[DIFFERENCE_COULOMB * matrix + at] = change[0];
  differences[DIFFERENCE_VDW * matrix + at] = change[1];
  differences[DIFFERENCE_MAGNITUDE * matrix + at] = magnitude;
}

/* State of a decision in local memory (kernels/decision.hpp). */
typedef struct {
  __local double *threshold; /* per step */
  __local double *total;     /* per step: energy change of the candidate tried */
  __local double *bound;     /* per step: on its error */
  __local double *change;    /* TERMS arrays, per step: what an accepted step changes */
  __local int *first;        /* per step: its first candidate */
  __local int *earlier;      /* per step: the molecule's step before, or -1 - its slot */
  __local int *later;        /* per step: whether the molecule has a step after it */
  __local int *tried;        /* per step: the candidate that starts from where the molecule is */
  __local int *doubtful;     /* per step */
  __local int *occupied;     /* per step: the entry its molecule occupies after it */
  __local int *accepted;     /* number of steps */
} Occupation;

static inline Occupation occupation_in(WindowShape window, __local double *shared) {
  Occupation o;
  o.threshold = shared;
  o.total = o.threshold + window.steps;
  o.bound = o.total + window.steps;
  o.change = o.bound + window.steps;
  o.first = (__local int *)(o.change + TERMS * window.steps);
  o.earlier = o.first + window.steps;
  o.later = o.earlier + window.steps;
  o.tried = o.later + window.steps;
  o.doubtful = o.tried + window.steps;
  o.occupied = o.doubtful + window.steps;
  o.accepted = o.occupied + window.steps;
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
    int earlier = index - 1;
    while (slots[earlier] != slot) --earlier;
    o.earlier[index] = earlier;
    o.later[earlier] = 1;
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
  if (field == FIELD_GRID) return energies.grid ? energies.grid[entry] : 0;
  if (!energies.nuclei) return 0;
  return energies.nuclei[(field == FIELD_VDW ? layout.candidates : 0) + entry];
}

#if STARPMC_CPU_DEVICE
#define OWN_CANDIDATES(window) ((window.candidates + DECIDE_GROUP - 1) / DECIDE_GROUP)
#else
#define OWN_CANDIDATES(window) CANDIDATES_PER_ITEM
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
  for (int j = 0; j < OWN_CANDIDATES(window); ++j) {
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

/* A row of the differences, as far as an item's candidates need it. */
typedef struct {
  double coulomb[CANDIDATES_PER_ITEM];
  double vdw[CANDIDATES_PER_ITEM];
  double magnitude[CANDIDATES_PER_ITEM];
} Row;

#if STARPMC_CPU_DEVICE

/* A CPU's items are loops over its caches: nothing is gained by reading ahead. */
typedef int AheadRow;
#define READ_AHEAD(index) 0

static inline void take_row(WindowShape window, __global const double *differences, int accepted,
                            int first, AheadRow ahead, OwnCandidates *own) {
  const int matrix = window.candidates * window.candidates;
  __global const double *row = differences + accepted * window.candidates;
  for (int j = 0; j < OWN_CANDIDATES(window); ++j) {
    const int candidate = min(CANDIDATE_OF_ITEM(j), window.candidates - 1);
    own->coulomb[j] += row[DIFFERENCE_COULOMB * matrix + candidate];
    own->vdw[j] += row[DIFFERENCE_VDW * matrix + candidate];
    own->magnitude[j] += row[DIFFERENCE_MAGNITUDE * matrix + candidate];
  }
}

#else

typedef Row AheadRow;

static inline Row row_of(WindowShape window, __global const double *differences, int accepted) {
  const int matrix = window.candidates * window.candidates;
  __global const double *from = differences + accepted * window.candidates;
  Row row;
  for (int j = 0; j < CANDIDATES_PER_ITEM; ++j) {
    const int candidate = min(CANDIDATE_OF_ITEM(j), window.candidates - 1);
    row.coulomb[j] = from[DIFFERENCE_COULOMB * matrix + candidate];
    row.vdw[j] = from[DIFFERENCE_VDW * matrix + candidate];
    row.magnitude[j] = from[DIFFERENCE_MAGNITUDE * matrix + candidate];
  }
  return row;
}
/* A step's first candidate is nearly always the one that matters, and known before the steps ahead
   of it are decided. */
#define READ_AHEAD(index) row_of(window, differences, o.first[min(index, window.steps - 1)])

static inline void take_row(WindowShape window, __global const double *differences, int accepted,
                            int first, AheadRow ahead, OwnCandidates *own) {
  if (accepted != first) ahead = row_of(window, differences, accepted);
  for (int j = 0; j < CANDIDATES_PER_ITEM; ++j) {
    own->coulomb[j] += ahead.coulomb[j];
    own->vdw[j] += ahead.vdw[j];
    own->magnitude[j] += ahead.magnitude[j];
  }
}

#endif

/* Eq. 1 of Miranda et al. 2016, by the item whose candidate is the step's: the one that starts from
   where the molecule is. */
static inline void try_step(WindowShape window, DecisionBound bound, int certify, Occupation o,
                            const OwnCandidates *own, int index) {
  for (int j = 0; j < OWN_CANDIDATES(window); ++j) {
    if (own->step[j] != index || own->parent[j] != occupied_from(window, o, index)) continue;
    const double total = (own->coulomb[j] + own->vdw[j]) + own->field[j];
    const double error = decision_error_bound(bound, own->magnitude[j]);
    const int candidate = CANDIDATE_OF_ITEM(j);
    o.tried[index] = candidate;
    o.total[index] = total;
    o.bound[index] = error;
    o.doubtful[index] = certify && fabs(total - o.threshold[index]) <= error;
    o.occupied[index] = total < o.threshold[index] ? candidate : own->parent[j];
    o.change[TERM_MM_COULOMB * window.steps + index] = own->coulomb[j];
    o.change[TERM_MM_VDW * window.steps + index] = own->vdw[j];
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
    for (int field = 0; field < POSE_FIELDS; ++field) {
      lattice[field * stride + molecule] = entries[field * capacity + entry];
    }
    for (int k = 0; k < 3 * window.layout.sites; ++k) {
      lattice_sites[k * stride + molecule] =
          stored_site(entries[k % 3 * capacity + entry],
                      entries[(POSE_FIELDS + k) * capacity + entry], interaction.box[k % 3]);
    }
    for (int k = 0; k < FIELDS; ++k) {
      field_cache[k * stride + molecule] =
          field_energy(window, plan, energies, field_cache, k, entry);
    }
  }
}

/* Running totals after each step, and the counts of the chain. */
static inline void write_records(WindowShape window, __global const int *plan,
                                 WindowEnergies energies, __global const double *field_cache,
                                 Occupation o, __global double *chain_state,
                                 __global double *record) {
  const int item = (int)get_local_id(0);
  const int steps = window.layout.steps;
  int not_finite = 0;
  int accepted = 0;
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    const int to = o.occupied[index];
    const int from = occupied_from(window, o, index);
    const int fields[FIELDS] = {FIELD_VDW, FIELD_NUCLEI, FIELD_GRID};
    const int terms[FIELDS] = {TERM_QMMM_VDW, TERM_QMMM_NUCLEI, TERM_QMMM_GRID};
    for (int k = 0; k < FIELDS; ++k) {
      o.change[terms[k] * window.steps + index] =
          field_energy(window, plan, energies, field_cache, fields[k], to) -
          field_energy(window, plan, energies, field_cache, fields[k], from);
    }
    record[RECORD_ACCEPTED * steps + index] = to != from;
    accepted += to != from;
    if (to == from) {
      o.change[TERM_MM_COULOMB * window.steps + index] = 0;
      o.change[TERM_MM_VDW * window.steps + index] = 0;
    }
    if (!isfinite(o.total[index])) not_finite = 1;
  }
  if (not_finite) chain_state[STATE_NOT_FINITE] = 1;
  if (accepted > 0) atomic_add(o.accepted, accepted);
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);
  for (int term = item; term < TERMS; term += DECIDE_GROUP) {
    double total = chain_state[STATE_TERMS + term];
    for (int index = 0; index < window.steps; ++index) {
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

/* The steps in doubt as the first pass lists them and the second finds them answered. */
typedef struct {
  __global int *list;
  __global const ulong *answers; /* per doubt: shares of `shares` groups */
  int shares;
  int answered; /* doubts that have an answer under the history so far */
  int met;      /* doubts met so far */
} Doubts;

static inline double energy_of(ulong units) {
  return (double)as_long(units) / STARPMC_ENERGY_UNITS;
}

/* Exact change of a step met in the second pass: from the list, or else by this group alone. */
static inline double exact_change(const ExactSources *sources, const Doubts *doubts, int index,
                                  int from, int to, __local ulong *shared) {
  ulong units = 0;
  if (doubts->met < doubts->answered) {
    __global const ulong *shares = doubts->answers + doubts->met * doubts->shares;
    for (int i = (int)get_local_id(0); i < doubts->shares; i += DECIDE_GROUP) units += shares[i];
  } else {
    DECIDE_BARRIER(CLK_GLOBAL_MEM_FENCE); /* what the steps before did */
    units = exact_change_share(sources, index, from, to, 0, 1);
  }
  return energy_of(DECIDE_SUM(units, shared));
}

static inline void list_doubt(const Doubts *doubts, int index, int from, int to) {
  if (get_local_id(0) == 0 && doubts->met < MOST_DOUBTS) {
    __global int *doubt = doubts->list + DOUBTS_HEADER + DOUBT_FIELDS * doubts->met;
    doubt[DOUBT_INDEX] = index;
    doubt[DOUBT_FROM] = from;
    doubt[DOUBT_TO] = to;
  }
}

/* A step in doubt, settled exactly by the whole group. Where that overturns the first pass, the
   answers to later doubts belong to another history. */
static inline void settle(const ExactSources *sources, Doubts *doubts, Occupation o, int index,
                          int from, __global double *chain_state, __local ulong *shared) {
  const double exact =
      exact_change(sources, doubts, index, from, o.tried[index], shared);
  const int settled = exact < o.threshold[index] ? o.tried[index] : from;
  if (settled != o.occupied[index]) doubts->answered = 0;
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    o.occupied[index] = settled;
    chain_state[STATE_CERTIFIED] += 1;
    chain_state[STATE_LARGEST_ERROR] =
        fmax(chain_state[STATE_LARGEST_ERROR], fabs(o.total[index] - exact) / o.bound[index]);
  }
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);
}

#define DECIDE_PARAMETERS                                                                         \
  WindowShape window, Interaction interaction, StepTuning tuning, int certify,                    \
      DecisionBound bound, int has_grid, int has_nuclei, int nuclei, int blocks, int shares,      \
      BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),           \
      BUFFER(grid_energies), BUFFER(nuclei_energies), BUFFER(mm_energies), BUFFER(differences),   \
      BUFFER(chain_state), BUFFER(lattice), BUFFER(lattice_sites), BUFFER(field_cache),           \
      BUFFER(record), BUFFER(solute), BUFFER(exact_blocks), BUFFER(exact_points),                 \
      BUFFER(doubt_list), BUFFER(answers), __local double *shared

#define DECIDE_ARRAYS                                                                             \
  CONSTANT_ARRAY(double, topology_reals);                                                         \
  CONSTANT_ARRAY(int, topology_integers);                                                         \
  CONSTANT_ARRAY(int, plan);                                                                      \
  CONSTANT_ARRAY(double, entries);                                                                \
  CONSTANT_ARRAY(double, grid_energies);                                                          \
  CONSTANT_ARRAY(double, nuclei_energies);                                                        \
  CONSTANT_ARRAY(double, mm_energies);                                                            \
  CONSTANT_ARRAY(double, differences);                                                            \
  ARRAY(double, chain_state);                                                                     \
  ARRAY(double, lattice);                                                                         \
  ARRAY(coordinate, lattice_sites);                                                               \
  ARRAY(double, field_cache);                                                                     \
  ARRAY(double, record);                                                                          \
  CONSTANT_ARRAY(double, solute);                                                                 \
  CONSTANT_ARRAY(double, exact_blocks);                                                           \
  CONSTANT_ARRAY(double, exact_points);                                                           \
  ARRAY(int, doubt_list);                                                                         \
  CONSTANT_ARRAY(ulong, answers);

/* One step. Rows are read STEPS_AHEAD steps ahead, each into registers of its own: an array of them
   would live in memory. */
#define STEPS_AHEAD 4
#define DECIDE_STEP(SECOND_PASS, STEP, AHEAD)                                                     \
  if ((STEP) < window.steps) {                                                                    \
    const int index = (STEP);                                                                     \
    try_step(window, bound, certify, o, &own, index);                                             \
    DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);                                                          \
    if (o.doubtful[index]) {                                                                      \
      const int from = occupied_from(window, o, index);                                           \
      if (SECOND_PASS) {                                                                          \
        settle(&sources, &doubts, o, index, from, chain_state, shared_units);                     \
      } else {                                                                                    \
        list_doubt(&doubts, index, from, o.tried[index]);                                         \
      }                                                                                           \
      ++doubts.met;                                                                               \
    }                                                                                             \
    const int tried = o.tried[index];                                                             \
    const int accepted = o.occupied[index] == tried;                                              \
    if (get_local_id(0) == 0) doubt_list[DOUBTS_TAKEN + index] = accepted ? tried : -1;           \
    if (accepted) take_row(window, differences, tried, o.first[index], AHEAD, &own);              \
    AHEAD = READ_AHEAD(index + STEPS_AHEAD);                                                      \
  }

/* One work-group decides the steps in order. In the first pass steps in doubt go the way their
   approximate energies say and are listed; only where there is none the outcome is stored.
   exact_changes then answers the doubts with the whole device, and the second pass repeats the
   window with the answers. Two kernels, so that the first need not carry the registers of the
   second. */
#define DECIDE_BODY(SECOND_PASS)                                                                  \
  DECIDE_ARRAYS                                                                                   \
  __local ulong shared_units[DECIDE_GROUP];                                                       \
  if (SECOND_PASS && doubt_list[DOUBTS_COUNT] == 0) return;                                       \
  const Occupation o = occupation_in(window, shared);                                             \
  const WindowEnergies energies = {has_grid ? grid_energies : 0,                                  \
                                   has_nuclei ? nuclei_energies : 0, mm_energies};                \
  const ExactSources sources =                                                                    \
      exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan, \
                    entries, lattice, solute, exact_blocks, exact_points,                         \
                    doubt_list + DOUBTS_TAKEN, SECOND_PASS);                                      \
  Doubts doubts = {doubt_list, answers, shares,                                                   \
                   SECOND_PASS ? min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS) : 0, 0};              \
  load_steps(window, plan, entries, o);                                                           \
  OwnCandidates own;                                                                              \
  load_candidates(window, plan, energies, field_cache, &own);                                     \
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                            \
  AheadRow ahead0 = READ_AHEAD(0);                                                                \
  AheadRow ahead1 = READ_AHEAD(1);                                                                \
  AheadRow ahead2 = READ_AHEAD(2);                                                                \
  AheadRow ahead3 = READ_AHEAD(3);                                                                \
  for (int base = 0; base < window.steps; base += STEPS_AHEAD) {                                  \
    DECIDE_STEP(SECOND_PASS, base, ahead0)                                                        \
    DECIDE_STEP(SECOND_PASS, base + 1, ahead1)                                                    \
    DECIDE_STEP(SECOND_PASS, base + 2, ahead2)                                                    \
    DECIDE_STEP(SECOND_PASS, base + 3, ahead3)                                                    \
  }                                                                                               \
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);                                                                   \
  if (get_local_id(0) == 0) doubt_list[DOUBTS_COUNT] = SECOND_PASS ? 0 : doubts.met;              \
  if (!SECOND_PASS && doubts.met > 0) return;                                                     \
  write_records(window, plan, energies, field_cache, o, chain_state, record);                     \
  DECIDE_BARRIER(CLK_GLOBAL_MEM_FENCE); /* the cache was read */                                         \
  store_occupation(window, interaction, plan, entries, energies, o, lattice, lattice_sites,       \
                   field_cache);                                                                  \
  if (get_local_id(0) == 0) tune_step_sizes_of(tuning, chain_state);

__kernel GROUP_OF(DECIDE_GROUP) void metropolis_decide(DECIDE_PARAMETERS) { DECIDE_BODY(0) }

__kernel GROUP_OF(DECIDE_GROUP) void metropolis_settle(DECIDE_PARAMETERS) { DECIDE_BODY(1) }

/* Answers the doubts of the first pass: every group writes its share of each. */
__kernel GROUP_OF(EXACT_GROUP) void exact_changes(
    WindowShape window, Interaction interaction, int nuclei, int blocks, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(plan), BUFFER(entries), BUFFER(lattice), BUFFER(solute),
    BUFFER(exact_blocks), BUFFER(exact_points), BUFFER(doubt_list), BUFFER(answers)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(double, solute);
  CONSTANT_ARRAY(double, exact_blocks);
  CONSTANT_ARRAY(double, exact_points);
  CONSTANT_ARRAY(int, doubt_list);
  ARRAY(ulong, answers);
  __local ulong shared[EXACT_GROUP];
  const int count = min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS);
  if (count == 0) return;
  const int group = (int)get_group_id(0);
  const int groups = (int)get_num_groups(0);
  const ExactSources sources =
      exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan,
                    entries, lattice, solute, exact_blocks, exact_points,
                    doubt_list + DOUBTS_TAKEN, 1);
  for (int doubt = 0; doubt < count; ++doubt) {
    __global const int *at = doubt_list + DOUBTS_HEADER + DOUBT_FIELDS * doubt;
    const ulong share = exact_change_share(&sources, at[DOUBT_INDEX], at[DOUBT_FROM],
                                           at[DOUBT_TO], group, groups);
    const ulong units = group_sum_units(share, shared);
    if (get_local_id(0) == 0) answers[doubt * groups + group] = units;
  }
}
