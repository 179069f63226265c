#include "opencl/moves.h"
#include "opencl/window.h"

#define TUNING_STATE __global double *
#include "common/tuning.h"

/* State of a decision in local memory (kernels/decision.hpp). Entries are counted without gaps:
   candidates, then start entries. */
typedef struct {
  __local double *coulomb;   /* MM energy of every entry, kept up to date */
  __local double *vdw;
  __local double *field;     /* FIELDS energies of each slot's molecule with the solute */
  __local double *threshold; /* per step */
  __local int *occupied;     /* entry each slot's molecule occupies */
  __local int *slot;         /* per step */
  __local int *first;        /* per step: its first candidate */
  __local int *parent;       /* per candidate */
  __local int *outcome;      /* of the step: entry left, candidate entered or -1 */
} Occupation;

static inline Occupation occupation_in(WindowShape window, __local double *shared) {
  const int count = window.candidates + window.starts;
  Occupation o;
  o.coulomb = shared;
  o.vdw = o.coulomb + count;
  o.field = o.vdw + count;
  o.threshold = o.field + FIELDS * window.starts;
  o.occupied = (__local int *)(o.threshold + window.steps);
  o.slot = o.occupied + window.starts;
  o.first = o.slot + window.steps;
  o.parent = o.first + window.steps;
  o.outcome = o.parent + window.candidates;
  return o;
}

static inline int position_of(WindowShape window, int entry) {
  return entry < window.layout.candidates ? entry
                                          : entry - window.layout.candidates + window.candidates;
}

static inline void load_occupation(WindowShape window, __global const int *plan,
                                   __global const double *entries,
                                   __global const double *mm_energies,
                                   __global const double *field_cache, Occupation o) {
  const WindowLayout layout = window.layout;
  const int item = (int)get_local_id(0);
  for (int i = item; i < window.candidates + window.starts; i += DECIDE_GROUP) {
    const int entry = entry_at(window, i);
    o.coulomb[i] = mm_energies[entry];
    o.vdw[i] = mm_energies[entry_capacity(layout) + entry];
  }
  for (int slot = item; slot < window.starts; slot += DECIDE_GROUP) {
    const int molecule = plan[plan_start_molecule(layout) + slot];
    o.occupied[slot] = start_entry(layout, slot);
    for (int k = 0; k < FIELDS; ++k) {
      o.field[FIELDS * slot + k] = field_cache[k * layout.molecules + molecule];
    }
  }
  for (int index = item; index < window.steps; index += DECIDE_GROUP) {
    o.threshold[index] = entries[entries_threshold(layout) + index];
    o.slot[index] = plan[plan_step_slot(layout) + index];
    o.first[index] = plan[plan_step_first(layout) + index];
  }
  for (int candidate = item; candidate < window.candidates; candidate += DECIDE_GROUP) {
    o.parent[candidate] = plan[plan_candidate_parent(layout) + candidate];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Eq. 1 of Miranda et al. 2016, by one item.
   state: the chain state while the window is decided */
static inline void decide(WindowShape window, Occupation o, int index, const double field[FIELDS],
                          int candidate, double state[STATE_SIZE]) {
  const int slot = o.slot[index];
  const int from = o.occupied[slot];
  const int left = position_of(window, from);
  __local double *current = o.field + FIELDS * slot;
  double change[TERMS];
  change[TERM_MM_COULOMB] = o.coulomb[candidate] - o.coulomb[left];
  change[TERM_MM_VDW] = o.vdw[candidate] - o.vdw[left];
  change[TERM_QMMM_VDW] = field[FIELD_VDW] - current[FIELD_VDW];
  change[TERM_QMMM_NUCLEI] = field[FIELD_NUCLEI] - current[FIELD_NUCLEI];
  change[TERM_QMMM_GRID] = field[FIELD_GRID] - current[FIELD_GRID];
  double total = 0;
  for (int term = 0; term < TERMS; ++term) total += change[term];
  if (!isfinite(total)) state[STATE_NOT_FINITE] += 1;
  const int accepted = total < o.threshold[index];
  o.outcome[0] = from;
  o.outcome[1] = accepted ? candidate : -1;
  if (!accepted) return;
  for (int term = 0; term < TERMS; ++term) state[STATE_TERMS + term] += change[term];
  state[STATE_ACCEPTED] += 1;
  for (int k = 0; k < FIELDS; ++k) current[k] = field[k];
  o.occupied[slot] = candidate;
}

/* Every entry now meets the molecule at the candidate entered instead of at the entry left. */
static inline void exchange(WindowShape window, Occupation o, __global const real *table) {
  const int rows = entry_capacity(window.layout);
  const int from = o.outcome[0];
  const int to = o.outcome[1];
  for (int i = (int)get_local_id(0); i < window.candidates + window.starts; i += DECIDE_GROUP) {
    const int entry = entry_at(window, i);
    o.coulomb[i] += (double)table[to * rows + entry] - (double)table[from * rows + entry];
    o.vdw[i] += (double)table[(rows + to) * rows + entry] -
                (double)table[(rows + from) * rows + entry];
  }
}

/* Puts molecules that moved where they are now. */
static inline void store_occupation(WindowShape window, __global const int *plan,
                                    __global const double *entries, Occupation o,
                                    __global double *mm_energies, __global double *lattice,
                                    __global real *lattice_sites, __global double *field_cache) {
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
      lattice_sites[k * stride + molecule] = (real)entries[(POSE_FIELDS + k) * capacity + entry];
    }
    for (int k = 0; k < FIELDS; ++k) {
      field_cache[k * stride + molecule] = o.field[FIELDS * slot + k];
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
    WindowShape window, StepTuning tuning, int has_grid, int has_nuclei, BUFFER(plan),
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
  ARRAY(real, lattice_sites);
  ARRAY(double, field_cache);
  ARRAY(double, record);
  const Occupation o = occupation_in(window, shared);
  load_occupation(window, plan, entries, mm_energies, field_cache, o);
  double state[STATE_SIZE];
  for (int k = 0; k < STATE_SIZE; ++k) state[k] = chain_state[k];
  for (int index = 0; index < window.steps; ++index) {
    if (get_local_id(0) == 0) {
      int candidate = o.first[index];
      while (o.parent[candidate] != o.occupied[o.slot[index]]) ++candidate;
      double field[FIELDS];
      field[FIELD_GRID] = has_grid ? grid_energies[candidate] : 0;
      field[FIELD_NUCLEI] = has_nuclei ? nuclei_energies[candidate] : 0;
      field[FIELD_VDW] = has_nuclei ? nuclei_energies[window.layout.candidates + candidate] : 0;
      decide(window, o, index, field, candidate, state);
      record[RECORD_ACCEPTED * window.layout.steps + index] = o.outcome[1] < 0 ? 0 : 1;
      for (int term = 0; term < TERMS; ++term) {
        record[(RECORD_TERMS + term) * window.layout.steps + index] = state[STATE_TERMS + term];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (o.outcome[1] >= 0) exchange(window, o, table);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  store_occupation(window, plan, entries, o, mm_energies, lattice, lattice_sites, field_cache);
  if (get_local_id(0) == 0) {
    state[STATE_PROPOSED] += window.steps;
    for (int k = 0; k < STATE_SIZE; ++k) chain_state[k] = state[k];
    tune_step_sizes_of(tuning, chain_state);
  }
}
