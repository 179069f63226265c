#include "opencl/moves.h"
#include "opencl/window.h"

#define TUNING_STATE __global double *
#include "common/tuning.h"

/* State of a decision in local memory (kernels/decision.hpp). Entries are counted without gaps:
   candidates, then start entries. */
typedef struct {
  __local double *coulomb;   /* MM energy of every entry, kept up to date */
  __local double *vdw;
  __local double *field;     /* FIELDS energies of every entry with the solute */
  __local double *threshold; /* per step */
  __local int *occupied;     /* entry each slot's molecule occupies */
  __local int *slot;         /* per step */
  __local int *first;        /* per step: its first candidate */
  __local int *parent;       /* per candidate */
  __local int *accepted;     /* the step's outcome */
} Occupation;

static inline Occupation occupation_in(WindowShape window, __local double *shared) {
  const int count = window.candidates + window.starts;
  Occupation o;
  o.coulomb = shared;
  o.vdw = o.coulomb + count;
  o.field = o.vdw + count;
  o.threshold = o.field + FIELDS * count;
  o.occupied = (__local int *)(o.threshold + window.steps);
  o.slot = o.occupied + window.starts;
  o.first = o.slot + window.steps;
  o.parent = o.first + window.steps;
  o.accepted = o.parent + window.candidates;
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
  for (int slot = item; slot < window.starts; slot += DECIDE_GROUP) {
    o.occupied[slot] = start_entry(layout, slot);
  }
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    o.threshold[index] = entries[entries_threshold(layout) + index];
    o.slot[index] = plan[plan_step_slot(layout) + index];
    o.first[index] = plan[plan_step_first(layout) + index];
  }
  for (int candidate = item; candidate < window.candidates; candidate += DECIDE_GROUP) {
    o.parent[candidate] = plan[plan_candidate_parent(layout) + candidate];
  }
}

static inline void load_energies(WindowShape window, __global const int *plan, int has_grid,
                                 __global const double *grid_energies, int has_nuclei,
                                 __global const double *nuclei_energies,
                                 __global const double *mm_energies,
                                 __global const double *field_cache, Occupation o) {
  const WindowLayout layout = window.layout;
  for (int i = (int)get_local_id(0); i < window.candidates + window.starts; i += DECIDE_GROUP) {
    const int entry = entry_at(window, i);
    o.coulomb[i] = mm_energies[entry];
    o.vdw[i] = mm_energies[entry_capacity(layout) + entry];
    __local double *field = o.field + FIELDS * i;
    if (i < window.candidates) {
      field[FIELD_GRID] = has_grid ? grid_energies[i] : 0;
      field[FIELD_NUCLEI] = has_nuclei ? nuclei_energies[i] : 0;
      field[FIELD_VDW] = has_nuclei ? nuclei_energies[layout.candidates + i] : 0;
    } else {
      const int molecule = plan[plan_start_molecule(layout) + i - window.candidates];
      for (int k = 0; k < FIELDS; ++k) {
        field[k] = field_cache[k * layout.molecules + molecule];
      }
    }
  }
}

/* Eq. 1 of Miranda et al. 2016, by one item. state: the chain state while the window is decided */
static inline int decide(WindowShape window, Occupation o, int index, int from, int candidate,
                         double state[STATE_SIZE]) {
  const int left = position_of(window, from);
  __local const double *current = o.field + FIELDS * left;
  __local const double *proposed = o.field + FIELDS * candidate;
  double change[TERMS];
  change[TERM_MM_COULOMB] = o.coulomb[candidate] - o.coulomb[left];
  change[TERM_MM_VDW] = o.vdw[candidate] - o.vdw[left];
  change[TERM_QMMM_VDW] = proposed[FIELD_VDW] - current[FIELD_VDW];
  change[TERM_QMMM_NUCLEI] = proposed[FIELD_NUCLEI] - current[FIELD_NUCLEI];
  change[TERM_QMMM_GRID] = proposed[FIELD_GRID] - current[FIELD_GRID];
  double total = 0;
  for (int term = 0; term < TERMS; ++term) total += change[term];
  if (!isfinite(total)) state[STATE_NOT_FINITE] += 1;
  if (!(total < o.threshold[index])) return 0;
  for (int term = 0; term < TERMS; ++term) state[STATE_TERMS + term] += change[term];
  state[STATE_ACCEPTED] += 1;
  return 1;
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

static inline void apply(Occupation o, Exchange exchange, int position) {
  o.coulomb[position] += (double)exchange.coulomb_entered - (double)exchange.coulomb_left;
  o.vdw[position] += (double)exchange.vdw_entered - (double)exchange.vdw_left;
}

/* One step. The positions it may exchange are known before its outcome: the table's rows are on
   their way while the first item decides. */
static inline void take_step(WindowShape window, Occupation o, __global const real *table,
                             __global double *record, int index, double state[STATE_SIZE]) {
  const int item = (int)get_local_id(0);
  const int count = window.candidates + window.starts;
  const int from = o.occupied[o.slot[index]];
  int candidate = o.first[index];
  while (o.parent[candidate] != from) ++candidate;
  Exchange ahead[EXCHANGES_AHEAD];
  for (int k = 0; k < EXCHANGES_AHEAD; ++k) {
    const int position = min(item + k * DECIDE_GROUP, count - 1);
    ahead[k] = exchange_of(window, table, from, candidate, position);
  }
  if (item == 0) {
    const int accepted = decide(window, o, index, from, candidate, state);
    o.accepted[0] = accepted;
    record[RECORD_ACCEPTED * window.layout.steps + index] = accepted;
    for (int term = 0; term < TERMS; ++term) {
      record[(RECORD_TERMS + term) * window.layout.steps + index] = state[STATE_TERMS + term];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (o.accepted[0]) {
    if (item == 0) o.occupied[o.slot[index]] = candidate;
    for (int k = 0; k < EXCHANGES_AHEAD; ++k) {
      const int position = item + k * DECIDE_GROUP;
      if (position < count) apply(o, ahead[k], position);
    }
    for (int position = item + EXCHANGES_AHEAD * DECIDE_GROUP; position < count;
         position += DECIDE_GROUP) {
      apply(o, exchange_of(window, table, from, candidate, position), position);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Puts molecules that moved where they are now. */
static inline void store_occupation(WindowShape window, __global const int *plan,
                                    __global const double *entries, Occupation o,
                                    const double *box, __global double *mm_energies,
                                    __global double *lattice,
                                    __global coordinate *lattice_sites, __global double *field_cache) {
  const int stride = window.layout.molecules;
  const int capacity = entry_capacity(window.layout);
  for (int slot = (int)get_local_id(0); slot < window.starts; slot += DECIDE_GROUP) {
    const int entry = o.occupied[slot];
    if (entry >= window.layout.candidates) continue;
    const int molecule = plan[plan_start_molecule(window.layout) + slot];
    for (int field = 0; field < POSE_FIELDS; ++field) {
      lattice[field * stride + molecule] = entries[field * capacity + entry];
    }
    for (int k = 0; k < 3 * window.layout.sites; ++k) {
      lattice_sites[k * stride + molecule] =
          stored_site(entries[k % 3 * capacity + entry],
                      entries[(POSE_FIELDS + k) * capacity + entry], box[k % 3]);
    }
    for (int k = 0; k < FIELDS; ++k) {
      field_cache[k * stride + molecule] = o.field[FIELDS * entry + k];
    }
  }
  const int count = window.candidates + window.starts;
  for (int i = (int)get_local_id(0); i < count; i += DECIDE_GROUP) {
    mm_energies[entry_at(window, i)] = o.coulomb[i];
    mm_energies[capacity + entry_at(window, i)] = o.vdw[i];
  }
}

/* One work-group. shared: see occupation_in. */
__kernel GROUP_OF(DECIDE_GROUP) void metropolis_decide(
    WindowShape window, Interaction interaction, StepTuning tuning, int has_grid, int has_nuclei, BUFFER(plan),
    BUFFER(entries), BUFFER(grid_energies), BUFFER(nuclei_energies), BUFFER(mm_energies),
    BUFFER(table), BUFFER(chain_state), BUFFER(lattice), BUFFER(lattice_sites),
    BUFFER(field_cache), BUFFER(record), __local double *shared) {
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, grid_energies);
  CONSTANT_ARRAY(double, nuclei_energies);
  ARRAY(double, mm_energies);
  CONSTANT_ARRAY(real, table);
  ARRAY(double, chain_state);
  ARRAY(double, lattice);
  ARRAY(coordinate, lattice_sites);
  ARRAY(double, field_cache);
  ARRAY(double, record);
  const Occupation o = occupation_in(window, shared);
  load_steps(window, plan, entries, o);
  load_energies(window, plan, has_grid, grid_energies, has_nuclei, nuclei_energies, mm_energies,
                field_cache, o);
  barrier(CLK_LOCAL_MEM_FENCE);
  double state[STATE_SIZE];
  for (int k = 0; k < STATE_SIZE; ++k) state[k] = chain_state[k];
  for (int index = 0; index < window.steps; ++index) {
    take_step(window, o, table, record, index, state);
  }
  const double box[3] = {interaction.box[0], interaction.box[1], interaction.box[2]};
  store_occupation(window, plan, entries, o, box, mm_energies, lattice, lattice_sites, field_cache);
  if (get_local_id(0) == 0) {
    state[STATE_PROPOSED] += window.steps;
    for (int k = 0; k < STATE_SIZE; ++k) chain_state[k] = state[k];
    tune_step_sizes_of(tuning, chain_state);
  }
}
