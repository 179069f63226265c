/* The moves of a window's candidates, by one work-group. */
#ifndef STARPMC_OPENCL_PROPOSE_H
#define STARPMC_OPENCL_PROPOSE_H

#include "opencl/charged_site.h"
#include "opencl/moves.h"

/* Picks of the window's steps, in local memory: what the plan is made of. */
typedef struct {
  __local int *molecule;
  __local int *first_visit;  /* step of the molecule's first visit, -1: this is it */
  __local int *second_visit; /* step of its second visit before this step, or -1 */
  __local int *increment;    /* (start entries << 16) + candidates the step adds */
  __local int *offset;       /* sum of the increments before */
} Picks;

static inline void pick_molecules(WindowShape window, StepRange range,
                                  __global const double *chain_state, Picks picks,
                                  __global double *thresholds) {
  for (int index = (int)get_local_id(0); index < window.steps; index += PROPOSE_GROUP) {
    double pick, acceptance;
    const ulong step = range.first_step + (ulong)index;
    draw_pair(step, STREAM_PICK, range.chain, range.seed, &pick, &acceptance);
    picks.molecule[index] = chosen_molecule(pick, step, chain_state, window.topology.molecules);
    thresholds[index] = acceptance_threshold(acceptance, range.thermal_energy);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* A molecule visited before has one candidate per history: 1, 2, then 4 (see WindowPlanner). */
static inline void find_visits(WindowShape window, Picks picks) {
  for (int index = (int)get_local_id(0); index < window.steps; index += PROPOSE_GROUP) {
    int first = -1;
    int second = -1;
    const int molecule = picks.molecule[index];
    _Pragma("unroll 8") for (int earlier = 0; earlier < index; ++earlier) {
      const int same = picks.molecule[earlier] == molecule;
      second = same && first >= 0 ? earlier : second;
      first = same && first < 0 ? earlier : first;
    }
    picks.first_visit[index] = first;
    picks.second_visit[index] = second;
    picks.increment[index] = first < 0 ? (1 << 16) + 1 : (second < 0 ? 2 : 4);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int index = (int)get_local_id(0); index < window.steps; index += PROPOSE_GROUP) {
    int sum = 0;
    _Pragma("unroll 8") for (int earlier = 0; earlier < index; ++earlier) {
      sum += picks.increment[earlier];
    }
    picks.offset[index] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

static inline void write_plan(WindowShape window, Picks picks, __global int *plan) {
  const WindowLayout layout = window.layout;
  for (int index = (int)get_local_id(0); index < window.steps; index += PROPOSE_GROUP) {
    const int first_visit = picks.first_visit[index];
    const int second_visit = picks.second_visit[index];
    const int slot = picks.offset[first_visit < 0 ? index : first_visit] >> 16;
    const int first = picks.offset[index] & 0xFFFF;
    plan[plan_step_molecule(layout) + index] = picks.molecule[index];
    plan[plan_step_slot(layout) + index] = slot;
    plan[plan_step_first(layout) + index] = first;
    plan[plan_step_visit(layout) + index] = first_visit < 0 ? 0 : (second_visit < 0 ? 1 : 2);
    if (first_visit < 0) plan[plan_start_molecule(layout) + slot] = picks.molecule[index];
    const int histories = picks.increment[index] & 0xFFFF;
    for (int history = 0; history < histories; ++history) {
      int parent = start_entry(layout, slot);
      if (history == 1) parent = picks.offset[first_visit] & 0xFFFF;
      if (history > 1) parent = (picks.offset[second_visit] & 0xFFFF) + history - 2;
      plan[plan_candidate_step(layout) + first + history] = index;
      plan[plan_candidate_parent(layout) + first + history] = parent;
    }
  }
  if (get_local_id(0) == 0) {
    const int last = window.steps - 1;
    const int total = picks.offset[last] + picks.increment[last];
    plan[PLAN_STEPS] = window.steps;
    plan[PLAN_CANDIDATES] = total & 0xFFFF;
    plan[PLAN_STARTS] = total >> 16;
    plan[3] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Writes a pose and the sites it puts the molecule's atoms at. */
static inline void store_entry(WindowShape window, __global const double *topology_reals,
                               __global const int *topology_integers, __global double *entries,
                               int entry, int molecule, const double pose[POSE_FIELDS]) {
  const int capacity = entry_capacity(window.layout);
  const int type = topology_integers[molecule];
  const int sites = site_count(window.topology, topology_integers, type);
  for (int field = 0; field < POSE_FIELDS; ++field) {
    entries[field * capacity + entry] = pose[field];
  }
  for (int site = 0; site < window.layout.sites; ++site) {
    double reference[3] = {0, 0, 0};
    double displacement[3];
    if (site < sites) {
      for (int k = 0; k < 3; ++k) {
        reference[k] = topology_reals[topology_site(window.topology, type, site) + k];
      }
    }
    rotate_site(pose, reference, displacement);
    for (int k = 0; k < 3; ++k) {
      entries[(POSE_FIELDS + 3 * site + k) * capacity + entry] = displacement[k];
    }
  }
}

static inline void place_starts(WindowShape window, __global const double *topology_reals,
                                __global const int *topology_integers,
                                __global const double *lattice, __global const int *plan,
                                __global double *entries, __global real *outside) {
  for (int m = (int)get_local_id(0); m < window.layout.molecules; m += PROPOSE_GROUP) {
    outside[m] = m < window.topology.molecules ? 1 : 0;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (int slot = (int)get_local_id(0); slot < window.starts; slot += PROPOSE_GROUP) {
    const int molecule = plan[plan_start_molecule(window.layout) + slot];
    double pose[POSE_FIELDS];
    for (int field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = lattice[field * window.layout.molecules + molecule];
    }
    outside[molecule] = 0;
    store_entry(window, topology_reals, topology_integers, entries,
                start_entry(window.layout, slot), molecule, pose);
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}

/* Moves the candidates of the visits' one level; their parents belong to the levels before. */
static inline void move_candidates(WindowShape window, StepRange range, Interaction interaction,
                                   __global const double *chain_state,
                                   __global const double *topology_reals,
                                   __global const int *topology_integers,
                                   __global const int *plan, __global double *entries, int visit) {
  const int capacity = entry_capacity(window.layout);
  for (int candidate = (int)get_local_id(0); candidate < window.candidates;
       candidate += PROPOSE_GROUP) {
    const int index = plan[plan_candidate_step(window.layout) + candidate];
    if (plan[plan_step_visit(window.layout) + index] != visit) continue;
    const int parent = plan[plan_candidate_parent(window.layout) + candidate];
    double pose[POSE_FIELDS];
    double moved[POSE_FIELDS];
    for (int field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = entries[field * capacity + parent];
    }
    move_pose(range.first_step + (ulong)index, range.chain, range.seed,
              chain_state[STATE_MAXIMUM_TRANSLATION], chain_state[STATE_MAXIMUM_HALF_TURNS],
              interaction.box[0], interaction.box[1], interaction.box[2], pose, moved);
    if (chain_state[STATE_REGION_MOLECULES] > 0) {
      double centre[3];
      double length[3];
      for (int k = 0; k < 3; ++k) {
        centre[k] = chain_state[STATE_REGION_CENTRE + k];
        length[k] = interaction.box[k];
      }
      confine_pose(centre, chain_state[STATE_REGION_SQUARE], length, pose, moved);
    }
    store_entry(window, topology_reals, topology_integers, entries, candidate,
                plan[plan_step_molecule(window.layout) + index], moved);
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}

/* What proposing reads and writes. */
typedef struct {
  WindowShape window;
  Interaction interaction;
  StepRange range;
  int site_capacity; /* places for the candidates' charged sites; 0: they are not wanted */
  __global const double *topology_reals;
  __global const int *topology_integers;
  __global const double *chain_state;
  __global const double *lattice;
  __global int *plan;
  __global double *entries;
  __global real *outside;
  __global double *sites;
} Proposal;

/* shared: 5 integers per step */
static inline void propose(const Proposal *p, __local int *shared) {
  const WindowShape window = p->window;
  Picks picks;
  picks.molecule = shared;
  picks.first_visit = shared + window.steps;
  picks.second_visit = shared + 2 * window.steps;
  picks.increment = shared + 3 * window.steps;
  picks.offset = shared + 4 * window.steps;
  pick_molecules(window, p->range, p->chain_state, picks,
                 p->entries + entries_threshold(window.layout));
  find_visits(window, picks);
  write_plan(window, picks, p->plan);
  place_starts(window, p->topology_reals, p->topology_integers, p->lattice, p->plan, p->entries,
               p->outside);
  for (int visit = 0; visit < STARPMC_MAXIMUM_VISITS; ++visit) {
    move_candidates(window, p->range, p->interaction, p->chain_state, p->topology_reals,
                    p->topology_integers, p->plan, p->entries, visit);
  }
  for (int index = (int)get_local_id(0); index < p->site_capacity; index += PROPOSE_GROUP) {
    place_charged_site(window, p->topology_reals, p->topology_integers, p->plan, p->entries,
                       p->site_capacity, index, p->sites);
  }
}

#endif
