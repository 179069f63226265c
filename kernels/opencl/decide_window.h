/* Decides a window's steps, and stores what came of it. */
#ifndef STARPMC_OPENCL_DECIDE_WINDOW_H
#define STARPMC_OPENCL_DECIDE_WINDOW_H

#include "opencl/decide_lanes.h"
#include "opencl/decide_teams.h"

#define TUNING_STATE __global double *
#include "common/tuning.h"

/* What kernels that decide take. PART: BUFFER, or PLACE where a window's launches are handed all that
   they hand to each other in one piece of memory */
#define DECIDE_PARAMETERS(PART)                                                                  \
  WindowShape window, StepTuning tuning, Interaction interaction, int certify,                   \
      DecisionBound bound, int has_grid, int has_nuclei, int nuclei, int blocks, int components, \
      int shares, PART(plan), PART(entries), PART(grid_energies), PART(nuclei_energies),         \
      PART(mm_energies), PART(differences), PART(responses), PART(doubt_list), PART(answers),    \
      PART(chain_state), PART(lattice), PART(lattice_sites), PART(field_cache), PART(record),    \
      PART(molecule_response), PART(response_total), PART(topology_reals),                       \
      PART(topology_integers), PART(solute), __local double *occupation
/* And those that evaluate the density exactly, too. */
#define AND_POINTS_PARAMETERS , BUFFER(exact_blocks), BUFFER(exact_points)
#define WITHOUT_POINTS_PARAMETERS

typedef struct {
  WindowShape window;
  Interaction interaction;
  StepTuning tuning;
  int certify;
  DecisionBound bound;
  int shares;
  WindowEnergies energies;
  int exact_density;
  Response response;
  ExactSources exact;
  __global const int *plan;
  __global const double *entries;
  __global double *differences; /* and what lies behind them (window.h) */
  __global double *chain_state;
  __global double *lattice;
  __global coordinate *lattice_sites;
  __global double *field_cache;
  __global double *record;
  __global int *doubt_list;
  __global ulong *answers;
} Deciding;

/* OF: OF_BUFFER or OF_PLACE, as PART */
#define DECIDE_ARRAYS(OF)                     \
  ARRAY_AT(OF, int, plan);                    \
  ARRAY_AT(OF, double, entries);              \
  ARRAY_AT(OF, double, grid_energies);        \
  ARRAY_AT(OF, double, nuclei_energies);      \
  ARRAY_AT(OF, double, mm_energies);          \
  ARRAY_AT(OF, double, differences);          \
  ARRAY_AT(OF, const int, responses);         \
  ARRAY_AT(OF, int, doubt_list);              \
  ARRAY_AT(OF, ulong, answers);               \
  ARRAY_AT(OF, double, chain_state);          \
  ARRAY_AT(OF, double, lattice);              \
  ARRAY_AT(OF, coordinate, lattice_sites);    \
  ARRAY_AT(OF, double, field_cache);          \
  ARRAY_AT(OF, double, record);               \
  ARRAY_AT(OF, int, molecule_response);       \
  ARRAY_AT(OF, long, response_total);         \
  ARRAY_AT(OF, const double, topology_reals); \
  ARRAY_AT(OF, const int, topology_integers); \
  ARRAY_AT(OF, const double, solute);
#define POINTS_ARRAYS                   \
  CONSTANT_ARRAY(double, exact_blocks); \
  CONSTANT_ARRAY(double, exact_points);
#define WITHOUT_POINTS_ARRAYS              \
  __global const double *exact_blocks = 0; \
  __global const double *exact_points = 0;

#define DECIDING                                                                               \
  {window, interaction, tuning, certify, bound, shares,                                        \
   {has_grid ? grid_energies : 0, has_nuclei ? nuclei_energies : 0, mm_energies}, blocks == 0, \
   {components, responses, molecule_response, response_total},                                 \
   exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan, \
                 entries, lattice, solute, exact_blocks, exact_points,                         \
                 doubt_list + DOUBTS_TAKEN),                                                   \
   plan, entries, differences, chain_state, lattice, lattice_sites, field_cache, record,       \
   doubt_list, answers}

/* One pass over the window's steps, by one work-group. The first one settles steps in doubt without the
   density's points, and stores the outcome where none is left open by that; else it lists all that were in
   doubt, they are answered exactly (answer_doubts), and a pass with points repeats the window with the
   answers. Without such a list (DOUBTS_COUNT 0) this one may be the only one: it answers each doubt when
   it meets it.
   parts: of an exact change without points, others taking some (help.h); occupation: local memory
   (occupation.h); shared: a value per item */
static inline void decide_pass(const Deciding *d, int with_points, int parts,
                               __local double *occupation, __local ulong *shared) {
  const WindowShape window = d->window;
  const Occupation o = occupation_in(window, d->response.components, occupation);
  Doubts doubts = {d->doubt_list, d->answers, d->shares,
                   with_points ? min(d->doubt_list[DOUBTS_COUNT], MOST_DOUBTS) : 0,
                   0,
                   0,
                   0,
                   parts,
                   help_board(d->doubt_list, window),
                   d->answers};
  const Pass pass = {window,
                     d->energies,
                     d->bound,
                     d->certify,
                     with_points,
                     d->exact_density,
                     d->response,
                     d->plan,
                     d->field_cache,
                     d->differences,
                     d->differences + own_changes(window.candidates),
                     d->chain_state,
                     shared};
  load_steps(window, d->plan, d->entries, o);
  decide_steps(&pass, &d->exact, &doubts, o);
  end_help(&doubts);
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    d->doubt_list[DOUBTS_COUNT] = doubts.open > 0 ? doubts.met : 0;
    if (doubts.open == 0) {
      d->chain_state[STATE_CERTIFIED] += doubts.met;
      d->chain_state[STATE_LARGEST_ERROR] =
          fmax(d->chain_state[STATE_LARGEST_ERROR], doubts.largest_error);
    }
  }
  if (doubts.open > 0) return;
  sum_responses(window, d->plan, o, d->response, d->answers);
  write_records(window, d->plan, d->entries, d->energies, d->field_cache, o, d->chain_state,
                d->record);
  DECIDE_BARRIER(CLK_GLOBAL_MEM_FENCE); /* the cache and the responses were read */
  store_occupation(window, d->interaction, d->plan, d->entries, d->energies, o, d->lattice,
                   d->lattice_sites, d->field_cache);
  store_responses(window, d->plan, o, d->response, d->answers);
  if (get_local_id(0) == 0) tune_step_sizes_of(d->tuning, d->chain_state);
}

/* Answers the doubts of the first pass: every group writes its share of each. */
static inline void answer_doubts(const ExactSources *sources, int count,
                                 __global const int *doubt_list, __global ulong *answers,
                                 __local ulong *shared) {
  const int group = (int)get_group_id(0);
  const int groups = (int)get_num_groups(0);
  for (int doubt = 0; doubt < count; ++doubt) {
    __global const int *at = doubt_list + DOUBTS_HEADER + DOUBT_FIELDS * doubt;
    const ulong share = exact_change_share(sources, at[DOUBT_INDEX], at[DOUBT_FROM],
                                           at[DOUBT_TO], 1, group, groups);
    const ulong units = group_sum_units(share, shared);
    if (get_local_id(0) == 0) answers[doubt * groups + group] = units;
  }
}

#endif
