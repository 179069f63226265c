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
   candidates, then start entries. The energies with the MM molecules change with every accepted
   step; they have two sides, one to read and one to write, so that a step costs one barrier. */
typedef struct {
  __local double *mm;        /* per side: coulomb of every entry, then vdw */
  __local double *field;     /* FIELDS energies of every entry with the solute */
  __local double *threshold; /* per step */
  __local int *first;        /* per step: its first candidate */
  __local int *parent;       /* per candidate */
  __local int *earlier;      /* per step: the molecule's step before, or -1 - its slot */
  __local int *later;        /* per step: whether the molecule has a step after it */
  __local int *occupied;     /* per step: the entry its molecule occupies after it */
} Occupation;

static inline Occupation occupation_in(WindowShape window, __local double *shared) {
  const int count = window.candidates + window.starts;
  Occupation o;
  o.mm = shared;
  o.field = o.mm + 4 * count;
  o.threshold = o.field + FIELDS * count;
  o.first = (__local int *)(o.threshold + window.steps);
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
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    o.threshold[index] = entries[entries_threshold(layout) + index];
    o.first[index] = plan[plan_step_first(layout) + index];
    const int slot = slots[index];
    int earlier = index - 1;
    if (plan[plan_step_visit(layout) + index] == 0) earlier = -1;
    while (earlier >= 0 && slots[earlier] != slot) --earlier;
    o.earlier[index] = earlier >= 0 ? earlier : -1 - slot;
    int later = index + 1;
    while (later < window.steps && slots[later] != slot) ++later;
    o.later[index] = later < window.steps;
  }
  for (int candidate = item; candidate < window.candidates; candidate += DECIDE_GROUP) {
    o.parent[candidate] = plan[plan_candidate_parent(layout) + candidate];
  }
}

/* Where the energies of a window are. */
typedef struct {
  __global const double *grid;   /* null: none */
  __global const double *nuclei; /* null: none */
  __global const double *mm;
  __global const real *table;
} WindowEnergies;

static inline void load_energies(WindowShape window, __global const int *plan,
                                 WindowEnergies energies, __global const double *field_cache,
                                 Occupation o) {
  const WindowLayout layout = window.layout;
  const int count = window.candidates + window.starts;
  for (int i = (int)get_local_id(0); i < count; i += DECIDE_GROUP) {
    const int entry = entry_at(window, i);
    o.mm[i] = energies.mm[entry];
    o.mm[count + i] = energies.mm[entry_capacity(layout) + entry];
    __local double *field = o.field + FIELDS * i;
    if (i < window.candidates) {
      field[FIELD_GRID] = energies.grid ? energies.grid[i] : 0;
      field[FIELD_NUCLEI] = energies.nuclei ? energies.nuclei[i] : 0;
      field[FIELD_VDW] = energies.nuclei ? energies.nuclei[layout.candidates + i] : 0;
    } else {
      const int molecule = plan[plan_start_molecule(layout) + i - window.candidates];
      for (int k = 0; k < FIELDS; ++k) field[k] = field_cache[k * layout.molecules + molecule];
    }
  }
}

/* What the exchange of two positions adds to an entry's energies. */
typedef struct {
  real coulomb_left, coulomb_entered, vdw_left, vdw_entered;
} Exchange;

static inline Exchange exchange_of(WindowShape window, __global const real *table, int from, int to,
                                   int position) {
  const int rows = entry_capacity(window.layout);
  const int entry = entry_at(window, position);
  Exchange exchange;
  exchange.coulomb_left = table[from * rows + entry];
  exchange.coulomb_entered = table[to * rows + entry];
  exchange.vdw_left = table[(rows + from) * rows + entry];
  exchange.vdw_entered = table[(rows + to) * rows + entry];
  return exchange;
}

/* The exchange of a step's first candidate: nearly always the one that matters, and known before
   the steps ahead of it are decided. */
static inline void read_ahead(WindowShape window, Occupation o, __global const real *table,
                              int index, Exchange ahead[EXCHANGES_AHEAD]) {
  if (index >= window.steps) return;
  const int count = window.candidates + window.starts;
  const int to = o.first[index];
  for (int k = 0; k < EXCHANGES_AHEAD; ++k) {
    const int position = min((int)get_local_id(0) + k * DECIDE_GROUP, count - 1);
    ahead[k] = exchange_of(window, table, o.parent[to], to, position);
  }
}

/* Copies the side that is read to the one that is written, with the exchange if there is one. */
static inline void apply(WindowShape window, Occupation o, int side, int accepted, Exchange exchange,
                         int position) {
  const int count = window.candidates + window.starts;
  __local const double *from = o.mm + 2 * side * count;
  __local double *to = o.mm + 2 * (1 - side) * count;
  double coulomb = from[position];
  double vdw = from[count + position];
  if (accepted) {
    coulomb += (double)exchange.coulomb_entered - (double)exchange.coulomb_left;
    vdw += (double)exchange.vdw_entered - (double)exchange.vdw_left;
  }
  to[position] = coulomb;
  to[count + position] = vdw;
}

/* A step as it stands: every item of the group knows the same. */
typedef struct {
  int from;
  int candidate;
  double change[TERMS];
  double total;
  double bound; /* on the error of total */
} Trial;

/* Eq. 1 of Miranda et al. 2016. */
static inline Trial trial_of(WindowShape window, DecisionBound bound, Occupation o, int side,
                             int index) {
  const int count = window.candidates + window.starts;
  Trial trial;
  const int earlier = o.earlier[index];
  trial.from = earlier >= 0 ? o.occupied[earlier] : start_entry(window.layout, -1 - earlier);
  trial.candidate = o.first[index];
  while (o.parent[trial.candidate] != trial.from) ++trial.candidate;
  const int left = position_of(window, trial.from);
  __local const double *mm = o.mm + 2 * side * count;
  __local const double *current = o.field + FIELDS * left;
  __local const double *proposed = o.field + FIELDS * trial.candidate;
  const double pairs[2 * TERMS] = {mm[trial.candidate], mm[left],
                                   mm[count + trial.candidate], mm[count + left],
                                   proposed[FIELD_VDW], current[FIELD_VDW],
                                   proposed[FIELD_NUCLEI], current[FIELD_NUCLEI],
                                   proposed[FIELD_GRID], current[FIELD_GRID]};
  double magnitude = 0;
  trial.total = 0;
  for (int term = 0; term < TERMS; ++term) {
    trial.change[term] = pairs[2 * term] - pairs[2 * term + 1];
    trial.total += trial.change[term];
    magnitude += fabs(pairs[2 * term]) + fabs(pairs[2 * term + 1]);
  }
  trial.bound = decision_error_bound(bound, magnitude);
  return trial;
}

/* Puts molecules that moved where they are now. */
static inline void store_occupation(WindowShape window, Interaction interaction,
                                    __global const int *plan, __global const double *entries,
                                    Occupation o, __global double *lattice,
                                    __global coordinate *lattice_sites,
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
      field_cache[k * stride + molecule] = o.field[FIELDS * entry + k];
    }
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
static inline double exact_change(const ExactSources *sources, Doubts *doubts, int index,
                                  const Trial *trial, __local ulong *shared) {
  ulong units = 0;
  if (doubts->met < doubts->answered) {
    __global const ulong *shares = doubts->answers + doubts->met * doubts->shares;
    for (int i = (int)get_local_id(0); i < doubts->shares; i += DECIDE_GROUP) units += shares[i];
  } else {
    barrier(CLK_GLOBAL_MEM_FENCE); /* what the steps before did */
    units = exact_change_share(sources, index, trial->from, trial->candidate, 0, 1);
  }
  return energy_of(group_sum_units(units, shared));
}

static inline void list_doubt(Doubts *doubts, int index, const Trial *trial) {
  if (get_local_id(0) == 0 && doubts->met < MOST_DOUBTS) {
    __global int *doubt = doubts->list + DOUBTS_HEADER + DOUBT_FIELDS * doubts->met;
    doubt[DOUBT_INDEX] = index;
    doubt[DOUBT_FROM] = trial->from;
    doubt[DOUBT_TO] = trial->candidate;
  }
}

/* Whether a step is accepted. In the second pass a step in doubt is settled exactly; where that
   overturns the first pass, the answers to later doubts belong to another history. */
static inline int outcome_of(const ExactSources *sources, Doubts *doubts, int second_pass,
                             int certify, Occupation o, int index, const Trial *trial,
                             double state[STATE_SIZE], __local ulong *shared) {
  int accepted = trial->total < o.threshold[index];
  if (certify && fabs(trial->total - o.threshold[index]) <= trial->bound) {
    if (second_pass) {
      const double exact = exact_change(sources, doubts, index, trial, shared);
      state[STATE_CERTIFIED] += 1;
      state[STATE_LARGEST_ERROR] =
          fmax(state[STATE_LARGEST_ERROR], fabs(trial->total - exact) / trial->bound);
      const int settled = exact < o.threshold[index];
      if (settled != accepted) doubts->answered = 0;
      accepted = settled;
    } else {
      list_doubt(doubts, index, trial);
    }
    ++doubts->met;
  }
  return accepted;
}

static inline void write_record(WindowShape window, __global double *record, Occupation o,
                                Doubts *doubts, int index, const Trial *trial, int accepted,
                                double state[STATE_SIZE]) {
  if (!isfinite(trial->total)) state[STATE_NOT_FINITE] += 1;
  if (accepted) {
    for (int term = 0; term < TERMS; ++term) state[STATE_TERMS + term] += trial->change[term];
    state[STATE_ACCEPTED] += 1;
  }
  if (get_local_id(0) != 0) return;
  o.occupied[index] = accepted ? trial->candidate : trial->from;
  doubts->list[DOUBTS_TAKEN + index] = accepted ? trial->candidate : -1;
  const int steps = window.layout.steps;
  record[RECORD_ACCEPTED * steps + index] = accepted;
  for (int term = 0; term < TERMS; ++term) {
    record[(RECORD_TERMS + term) * steps + index] = state[STATE_TERMS + term];
  }
}

/* One work-group decides the steps in order. In the first pass steps in doubt go the way their
   approximate energies say and are listed; only where there is none the outcome is stored.
   exact_changes then answers the doubts with the whole device, and the second pass repeats the
   window with the answers. shared: see occupation_in. */
__kernel GROUP_OF(DECIDE_GROUP) void metropolis_decide(
    WindowShape window, Interaction interaction, StepTuning tuning, int certify,
    DecisionBound bound, int second_pass, int has_grid, int has_nuclei, int nuclei, int blocks,
    int shares, BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
    BUFFER(grid_energies), BUFFER(nuclei_energies), BUFFER(mm_energies), BUFFER(table),
    BUFFER(chain_state), BUFFER(lattice), BUFFER(lattice_sites), BUFFER(field_cache),
    BUFFER(record), BUFFER(solute), BUFFER(exact_blocks), BUFFER(exact_points),
    BUFFER(doubt_list), BUFFER(answers), __local double *shared) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, grid_energies);
  CONSTANT_ARRAY(double, nuclei_energies);
  CONSTANT_ARRAY(double, mm_energies);
  CONSTANT_ARRAY(real, table);
  ARRAY(double, chain_state);
  ARRAY(double, lattice);
  ARRAY(coordinate, lattice_sites);
  ARRAY(double, field_cache);
  ARRAY(double, record);
  CONSTANT_ARRAY(double, solute);
  CONSTANT_ARRAY(double, exact_blocks);
  CONSTANT_ARRAY(double, exact_points);
  ARRAY(int, doubt_list);
  CONSTANT_ARRAY(ulong, answers);
  __local ulong shared_units[DECIDE_GROUP];
  if (second_pass && doubt_list[DOUBTS_COUNT] == 0) return;
  const int count = window.candidates + window.starts;
  const Occupation o = occupation_in(window, shared);
  const WindowEnergies energies = {has_grid ? grid_energies : 0, has_nuclei ? nuclei_energies : 0,
                                   mm_energies, table};
  load_steps(window, plan, entries, o);
  load_energies(window, plan, energies, field_cache, o);
  const ExactSources sources =
      exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan,
                    entries, lattice, solute, exact_blocks, exact_points,
                    doubt_list + DOUBTS_TAKEN);
  Doubts doubts = {doubt_list, answers, shares,
                   second_pass ? min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS) : 0, 0};
  double state[STATE_SIZE];
  for (int k = 0; k < STATE_SIZE; ++k) state[k] = chain_state[k];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  Exchange ahead[STEPS_AHEAD][EXCHANGES_AHEAD];
  for (int k = 0; k < STEPS_AHEAD; ++k) read_ahead(window, o, table, k, ahead[k]);
  int side = 0;
  for (int base = 0; base < window.steps; base += STEPS_AHEAD) {
    _Pragma("unroll") for (int k = 0; k < STEPS_AHEAD; ++k) {
      const int index = base + k;
      if (index >= window.steps) break;
      const Trial trial = trial_of(window, bound, o, side, index);
      const int accepted = outcome_of(&sources, &doubts, second_pass, certify, o, index, &trial,
                                      state, shared_units);
      write_record(window, record, o, &doubts, index, &trial, accepted, state);
      const int as_read = trial.candidate == o.first[index];
      for (int j = 0; j * DECIDE_GROUP < count; ++j) {
        const int position = (int)get_local_id(0) + j * DECIDE_GROUP;
        if (position >= count) break;
        Exchange exchange = ahead[k][min(j, EXCHANGES_AHEAD - 1)];
        if (accepted && (!as_read || j >= EXCHANGES_AHEAD)) {
          exchange = exchange_of(window, table, trial.from, trial.candidate, position);
        }
        apply(window, o, side, accepted, exchange, position);
      }
      read_ahead(window, o, table, index + STEPS_AHEAD, ahead[k]);
      side = 1 - side;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  if (get_local_id(0) == 0) doubt_list[DOUBTS_COUNT] = second_pass ? 0 : doubts.met;
  if (!second_pass && doubts.met > 0) return;
  store_occupation(window, interaction, plan, entries, o, lattice, lattice_sites, field_cache);
  if (get_local_id(0) == 0) {
    state[STATE_PROPOSED] += window.steps;
    for (int k = 0; k < STATE_SIZE; ++k) chain_state[k] = state[k];
    tune_step_sizes_of(tuning, chain_state);
  }
}

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
                    doubt_list + DOUBTS_TAKEN);
  for (int doubt = 0; doubt < count; ++doubt) {
    __global const int *at = doubt_list + DOUBTS_HEADER + DOUBT_FIELDS * doubt;
    const ulong share = exact_change_share(&sources, at[DOUBT_INDEX], at[DOUBT_FROM],
                                           at[DOUBT_TO], group, groups);
    const ulong units = group_sum_units(share, shared);
    if (get_local_id(0) == 0) answers[doubt * groups + group] = units;
  }
}
