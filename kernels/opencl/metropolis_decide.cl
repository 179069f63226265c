#include "opencl/exact_change.h"

#define TUNING_STATE __global double *
#include "common/tuning.h"

/* Steps to evaluate again, exactly: a header, then per step of the list (index, from, to), then what
   every step of the window did. */
#define DOUBTS_COUNT 0
#define DOUBTS_HEADER 4
#define DOUBT_INDEX 0
#define DOUBT_FROM 1
#define DOUBT_TO 2
#define DOUBT_FIELDS 3
#define DOUBTS_TAKEN (DOUBTS_HEADER + DOUBT_FIELDS * MOST_DOUBTS)

/* State of a decision in local memory (kernels/decision.hpp). Entries are counted without gaps:
   candidates, then start entries. Each item keeps the energies of its entries in registers; those of
   the two entries that the next step compares are published, on two sides so that a step costs one
   barrier. */
typedef struct {
  __local double *published; /* per side: PUBLISHED values of the candidate, then of where it starts */
  __local double *threshold; /* per step */
  __local double *change;    /* TERMS arrays, per step: what an accepted step changes */
  __local int *first;        /* per step: its first candidate */
  __local int *parent;       /* per candidate */
  __local int *earlier;      /* per step: the molecule's step before, or -1 - its slot */
  __local int *later;        /* per step: whether the molecule has a step after it */
  __local int *occupied;     /* per step: the entry its molecule occupies after it */
} Occupation;

#define PUBLISHED 4
#define PUBLISHED_COULOMB 0
#define PUBLISHED_VDW 1
#define PUBLISHED_FIELD 2     /* energy with the solute */
#define PUBLISHED_MAGNITUDE 3 /* sum of the absolute values of its terms */

static inline Occupation occupation_in(WindowShape window, __local double *shared) {
  Occupation o;
  o.published = shared;
  o.threshold = o.published + 4 * PUBLISHED;
  o.change = o.threshold + window.steps;
  o.first = (__local int *)(o.change + TERMS * window.steps);
  o.parent = o.first + window.steps;
  o.earlier = o.parent + window.candidates;
  o.later = o.earlier + window.steps;
  o.occupied = o.later + window.steps;
  return o;
}

static inline int position_of(WindowShape window, int entry) {
  return entry < window.layout.candidates ? entry
                                          : entry - window.layout.candidates + window.candidates;
}

static inline void load_steps(WindowShape window, __global const int *plan,
                              __global const double *entries, Occupation o) {
  const WindowLayout layout = window.layout;
  const int item = (int)get_local_id(0);
  __global const int *slots = plan + plan_step_slot(layout);
  __global const int *visits = plan + plan_step_visit(layout);
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    o.threshold[index] = entries[entries_threshold(layout) + index];
    o.first[index] = plan[plan_step_first(layout) + index];
    o.earlier[index] = -1 - slots[index];
    o.later[index] = 0;
  }
  for (int candidate = item; candidate < window.candidates; candidate += DECIDE_GROUP) {
    o.parent[candidate] = plan[plan_candidate_parent(layout) + candidate];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    if (visits[index] == 0) continue;
    const int slot = slots[index];
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
  __global const real *table;
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

/* Energies of the entries of one item. */
typedef struct {
  double coulomb[ENTRIES_PER_ITEM]; /* with the MM molecules, kept up to date */
  double vdw[ENTRIES_PER_ITEM];
  double field[ENTRIES_PER_ITEM];
  double magnitude[ENTRIES_PER_ITEM];
} ItemEnergies;

#define POSITION_OF_ITEM(j) ((int)get_local_id(0) + (j)*DECIDE_GROUP)

/* The two positions a step compares. */
typedef struct {
  int from;
  int candidate;
} Move;

static inline Move move_of(WindowShape window, Occupation o, int index, int from) {
  Move move;
  move.from = from;
  move.candidate = o.first[index];
  while (o.parent[move.candidate] != from) ++move.candidate;
  return move;
}

#if STARPMC_CPU_DEVICE

/* A CPU's items are loops over its caches: nothing is gained by reading ahead. */
#define OWN_ENTRIES(window) \
  ((window.candidates + window.starts + DECIDE_GROUP - 1) / DECIDE_GROUP)
typedef int Exchange;
#define READ_AHEAD(index) 0

/* What the exchange of two positions adds to an item's energies. */
static inline void exchange(WindowShape window, __global const real *table, Move move, int first,
                            Exchange ahead, ItemEnergies *own) {
  const int rows = entry_capacity(window.layout);
  const int count = window.candidates + window.starts;
  for (int j = 0; j < OWN_ENTRIES(window); ++j) {
    const int entry = entry_at(window, min(POSITION_OF_ITEM(j), count - 1));
    own->coulomb[j] += (double)table[move.candidate * rows + entry] -
                       (double)table[move.from * rows + entry];
    own->vdw[j] += (double)table[(rows + move.candidate) * rows + entry] -
                   (double)table[(rows + move.from) * rows + entry];
  }
}

#else

#define OWN_ENTRIES(window) ENTRIES_PER_ITEM
typedef struct {
  real coulomb_left[ENTRIES_PER_ITEM], coulomb_entered[ENTRIES_PER_ITEM];
  real vdw_left[ENTRIES_PER_ITEM], vdw_entered[ENTRIES_PER_ITEM];
} Exchange;

static inline Exchange exchange_of(WindowShape window, __global const real *table, Move move) {
  const int rows = entry_capacity(window.layout);
  const int last = window.candidates + window.starts - 1;
  Exchange exchange;
  for (int j = 0; j < ENTRIES_PER_ITEM; ++j) {
    const int entry = entry_at(window, min(POSITION_OF_ITEM(j), last));
    exchange.coulomb_left[j] = table[move.from * rows + entry];
    exchange.coulomb_entered[j] = table[move.candidate * rows + entry];
    exchange.vdw_left[j] = table[(rows + move.from) * rows + entry];
    exchange.vdw_entered[j] = table[(rows + move.candidate) * rows + entry];
  }
  return exchange;
}

/* The exchange of a step's first candidate: nearly always the one that matters, and known before
   the steps ahead of it are decided. */
static inline Exchange read_ahead(WindowShape window, Occupation o, __global const real *table,
                                  int index) {
  Move move;
  move.candidate = o.first[min(index, window.steps - 1)];
  move.from = o.parent[move.candidate];
  return exchange_of(window, table, move);
}
#define READ_AHEAD(index) read_ahead(window, o, table, index)

/* What the exchange of two positions adds to an item's energies.
   first: the candidate that `ahead` is of */
static inline void exchange(WindowShape window, __global const real *table, Move move, int first,
                            Exchange ahead, ItemEnergies *own) {
  if (move.candidate != first) ahead = exchange_of(window, table, move);
  for (int j = 0; j < ENTRIES_PER_ITEM; ++j) {
    own->coulomb[j] += (double)ahead.coulomb_entered[j] - (double)ahead.coulomb_left[j];
    own->vdw[j] += (double)ahead.vdw_entered[j] - (double)ahead.vdw_left[j];
  }
}

#endif

static inline void load_energies(WindowShape window, __global const int *plan,
                                 WindowEnergies energies, __global const double *field_cache,
                                 ItemEnergies *own) {
  const int last = window.candidates + window.starts - 1;
  for (int j = 0; j < OWN_ENTRIES(window); ++j) {
    const int entry = entry_at(window, min(POSITION_OF_ITEM(j), last));
    own->coulomb[j] = energies.mm[entry];
    own->vdw[j] = energies.mm[entry_capacity(window.layout) + entry];
    own->field[j] = 0;
    own->magnitude[j] = 0;
    for (int field = 0; field < FIELDS; ++field) {
      const double energy = field_energy(window, plan, energies, field_cache, field, entry);
      own->field[j] += energy;
      own->magnitude[j] += fabs(energy);
    }
  }
}

/* The items that own the entries of a step let the others see their energies. */
static inline void publish(WindowShape window, Occupation o, int side, Move move,
                           const ItemEnergies *own) {
  const int left = position_of(window, move.from);
  for (int j = 0; j < OWN_ENTRIES(window); ++j) {
    const int position = POSITION_OF_ITEM(j);
    if (position != move.candidate && position != left) continue;
    __local double *to =
        o.published + PUBLISHED * (2 * side + (position == move.candidate ? 0 : 1));
    to[PUBLISHED_COULOMB] = own->coulomb[j];
    to[PUBLISHED_VDW] = own->vdw[j];
    to[PUBLISHED_FIELD] = own->field[j];
    to[PUBLISHED_MAGNITUDE] = own->magnitude[j];
  }
}

/* A step as it stands: every item of the group knows the same. */
typedef struct {
  double coulomb; /* change of the energy with the MM molecules */
  double vdw;
  double total; /* change of all energy */
  double bound; /* on the error of total */
} Trial;

/* Eq. 1 of Miranda et al. 2016. */
static inline Trial trial_of(DecisionBound bound, Occupation o, int side) {
  __local const double *proposed = o.published + 2 * PUBLISHED * side;
  __local const double *current = proposed + PUBLISHED;
  Trial trial;
  trial.coulomb = proposed[PUBLISHED_COULOMB] - current[PUBLISHED_COULOMB];
  trial.vdw = proposed[PUBLISHED_VDW] - current[PUBLISHED_VDW];
  trial.total = (trial.coulomb + trial.vdw) + (proposed[PUBLISHED_FIELD] - current[PUBLISHED_FIELD]);
  const double magnitude =
      (fabs(proposed[PUBLISHED_COULOMB]) + fabs(current[PUBLISHED_COULOMB])) +
      (fabs(proposed[PUBLISHED_VDW]) + fabs(current[PUBLISHED_VDW])) +
      (proposed[PUBLISHED_MAGNITUDE] + current[PUBLISHED_MAGNITUDE]);
  trial.bound = decision_error_bound(bound, magnitude);
  return trial;
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
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int term = item; term < TERMS; term += DECIDE_GROUP) {
    double total = chain_state[STATE_TERMS + term];
    for (int index = 0; index < window.steps; ++index) {
      total += o.change[term * window.steps + index];
      record[(RECORD_TERMS + term) * steps + index] = total;
    }
    chain_state[STATE_TERMS + term] = total;
  }
  if (item == DECIDE_GROUP - 1) {
    int accepted = 0;
    for (int index = 0; index < window.steps; ++index) {
      accepted += o.occupied[index] != occupied_from(window, o, index);
    }
    chain_state[STATE_ACCEPTED] += accepted;
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
                                  Move move, __local ulong *shared) {
  ulong units = 0;
  if (doubts->met < doubts->answered) {
    __global const ulong *shares = doubts->answers + doubts->met * doubts->shares;
    for (int i = (int)get_local_id(0); i < doubts->shares; i += DECIDE_GROUP) units += shares[i];
  } else {
    barrier(CLK_GLOBAL_MEM_FENCE); /* what the steps before did */
    units = exact_change_share(sources, index, move.from, move.candidate, 0, 1);
  }
  return energy_of(group_sum_units(units, shared));
}

static inline void list_doubt(const Doubts *doubts, int index, Move move) {
  if (get_local_id(0) == 0 && doubts->met < MOST_DOUBTS) {
    __global int *doubt = doubts->list + DOUBTS_HEADER + DOUBT_FIELDS * doubts->met;
    doubt[DOUBT_INDEX] = index;
    doubt[DOUBT_FROM] = move.from;
    doubt[DOUBT_TO] = move.candidate;
  }
}

/* A step in doubt, settled exactly. */
static inline int settle(const ExactSources *sources, const Doubts *doubts, int index, Move move,
                         Trial trial, double threshold, __global double *chain_state,
                         __local ulong *shared) {
  const double exact = exact_change(sources, doubts, index, move, shared);
  if (get_local_id(0) == 0) {
    chain_state[STATE_CERTIFIED] += 1;
    chain_state[STATE_LARGEST_ERROR] =
        fmax(chain_state[STATE_LARGEST_ERROR], fabs(trial.total - exact) / trial.bound);
  }
  return exact < threshold;
}

#define DECIDE_PARAMETERS                                                                         \
  WindowShape window, Interaction interaction, StepTuning tuning, int certify,                    \
      DecisionBound bound, int has_grid, int has_nuclei, int nuclei, int blocks, int shares,      \
      BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),           \
      BUFFER(grid_energies), BUFFER(nuclei_energies), BUFFER(mm_energies), BUFFER(table),         \
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
  CONSTANT_ARRAY(real, table);                                                                    \
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

/* One work-group decides the steps in order. In the first pass steps in doubt go the way their
   approximate energies say and are listed; only where there is none the outcome is stored.
   exact_changes then answers the doubts with the whole device, and the second pass repeats the
   window with the answers; where one overturns the first pass, the answers to later doubts belong to
   another history. Two kernels, so that the first need not carry the registers of the second. */
#define DECIDE_BODY(SECOND_PASS)                                                                  \
  DECIDE_ARRAYS                                                                                   \
  __local ulong shared_units[DECIDE_GROUP];                                                       \
  if (SECOND_PASS && doubt_list[DOUBTS_COUNT] == 0) return;                                       \
  const Occupation o = occupation_in(window, shared);                                             \
  const WindowEnergies energies = {has_grid ? grid_energies : 0,                                  \
                                   has_nuclei ? nuclei_energies : 0, mm_energies, table};         \
  const ExactSources sources =                                                                    \
      exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan, \
                    entries, lattice, solute, exact_blocks, exact_points,                         \
                    doubt_list + DOUBTS_TAKEN, SECOND_PASS);                                      \
  Doubts doubts = {doubt_list, answers, shares,                                                   \
                   SECOND_PASS ? min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS) : 0, 0};              \
  load_steps(window, plan, entries, o);                                                           \
  ItemEnergies own;                                                                               \
  load_energies(window, plan, energies, field_cache, &own);                                       \
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                            \
  Exchange ahead[STEPS_AHEAD];                                                                    \
  for (int k = 0; k < STEPS_AHEAD; ++k) ahead[k] = READ_AHEAD(k);                                 \
  Move move = move_of(window, o, 0, occupied_from(window, o, 0));                                 \
  publish(window, o, 0, move, &own);                                                              \
  barrier(CLK_LOCAL_MEM_FENCE);                                                                   \
  int side = 0;                                                                                   \
  int not_finite = 0;                                                                             \
  for (int base = 0; base < window.steps; base += STEPS_AHEAD) {                                  \
    _Pragma("unroll") for (int k = 0; k < STEPS_AHEAD; ++k) {                                     \
      const int index = base + k;                                                                 \
      if (index < window.steps) {                                                                 \
        const Trial trial = trial_of(bound, o, side);                                             \
        const double threshold = o.threshold[index];                                              \
        int accepted = trial.total < threshold;                                                   \
        if (certify && fabs(trial.total - threshold) <= trial.bound) {                            \
          if (SECOND_PASS) {                                                                      \
            const int exact = settle(&sources, &doubts, index, move, trial, threshold,            \
                                     chain_state, shared_units);                                  \
            if (exact != accepted) doubts.answered = 0;                                           \
            accepted = exact;                                                                     \
          } else {                                                                                \
            list_doubt(&doubts, index, move);                                                     \
          }                                                                                       \
          ++doubts.met;                                                                           \
        }                                                                                         \
        not_finite += !isfinite(trial.total);                                                     \
        if (accepted) exchange(window, table, move, o.first[index], ahead[k], &own);              \
        const int occupied = accepted ? move.candidate : move.from;                               \
        if (get_local_id(0) == 0) {                                                               \
          o.occupied[index] = occupied;                                                           \
          o.change[TERM_MM_COULOMB * window.steps + index] = accepted ? trial.coulomb : 0;        \
          o.change[TERM_MM_VDW * window.steps + index] = accepted ? trial.vdw : 0;                \
          doubt_list[DOUBTS_TAKEN + index] = accepted ? move.candidate : -1;                      \
        }                                                                                         \
        if (index + 1 < window.steps) {                                                           \
          const int from = o.earlier[index + 1] == index ? occupied                               \
                                                         : occupied_from(window, o, index + 1);   \
          move = move_of(window, o, index + 1, from);                                             \
          publish(window, o, 1 - side, move, &own);                                               \
        }                                                                                         \
        ahead[k] = READ_AHEAD(index + STEPS_AHEAD);                                               \
        side = 1 - side;                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                             \
      }                                                                                           \
    }                                                                                             \
  }                                                                                               \
  if (get_local_id(0) == 0) doubt_list[DOUBTS_COUNT] = SECOND_PASS ? 0 : doubts.met;              \
  if (!SECOND_PASS && doubts.met > 0) return;                                                     \
  write_records(window, plan, energies, field_cache, o, chain_state, record);                     \
  barrier(CLK_GLOBAL_MEM_FENCE); /* the cache was read */                                         \
  store_occupation(window, interaction, plan, entries, energies, o, lattice, lattice_sites,       \
                   field_cache);                                                                  \
  if (get_local_id(0) == 0) {                                                                     \
    chain_state[STATE_NOT_FINITE] += not_finite;                                                  \
    tune_step_sizes_of(tuning, chain_state);                                                      \
  }

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
