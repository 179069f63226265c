#include "opencl/decide_steps.h"

#define TUNING_STATE __global double *
#include "common/tuning.h"

#define DECIDE_PARAMETERS                                                                         \
  WindowShape window, Interaction interaction, StepTuning tuning, int certify,                    \
      DecisionBound bound, int has_grid, int has_nuclei, int nuclei, int blocks, int shares,      \
      BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),           \
      BUFFER(grid_energies), BUFFER(nuclei_energies), BUFFER(mm_energies), BUFFER(differences),   \
      BUFFER(chain_state), BUFFER(lattice), BUFFER(lattice_sites), BUFFER(field_cache),           \
      BUFFER(record), BUFFER(solute), BUFFER(exact_blocks), BUFFER(exact_points),                 \
      BUFFER(doubt_list), BUFFER(answers), __local double *occupation

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

/* One work-group decides the steps in order. Only where none is in doubt the first pass stores the
   outcome; else exact_changes answers the doubts with the whole device, and the second pass repeats
   the window with the answers. Two kernels, so that the first need not carry the registers of the
   second. */
#define DECIDE_BODY(SECOND_PASS)                                                                  \
  DECIDE_ARRAYS                                                                                   \
  __local ulong shared_units[DECIDE_GROUP];                                                       \
  if (SECOND_PASS && doubt_list[DOUBTS_COUNT] == 0) return;                                       \
  const Occupation o = occupation_in(window, occupation);                                         \
  const WindowEnergies energies = {has_grid ? grid_energies : 0,                                  \
                                   has_nuclei ? nuclei_energies : 0, mm_energies};                \
  const ExactSources sources =                                                                    \
      exact_sources(window, interaction, nuclei, blocks, topology_reals, topology_integers, plan, \
                    entries, lattice, solute, exact_blocks, exact_points,                         \
                    doubt_list + DOUBTS_TAKEN, SECOND_PASS);                                      \
  Doubts doubts = {doubt_list, answers, shares,                                                   \
                   SECOND_PASS ? min(doubt_list[DOUBTS_COUNT], MOST_DOUBTS) : 0, 0};              \
  const Pass pass = {window, bound, certify, SECOND_PASS, differences, chain_state, shared_units}; \
  load_steps(window, plan, entries, o);                                                           \
  OwnCandidates own;                                                                              \
  load_candidates(window, plan, energies, field_cache, &own);                                     \
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                     \
  decide_steps(&pass, &sources, &doubts, o, &own);                                                \
  DECIDE_BARRIER(CLK_LOCAL_MEM_FENCE);                                                            \
  if (get_local_id(0) == 0) doubt_list[DOUBTS_COUNT] = SECOND_PASS ? 0 : doubts.met;              \
  if (!SECOND_PASS && doubts.met > 0) return;                                                     \
  write_records(window, plan, energies, field_cache, o, chain_state, record);                     \
  DECIDE_BARRIER(CLK_GLOBAL_MEM_FENCE); /* the cache was read */                                  \
  store_occupation(window, interaction, plan, entries, energies, o, lattice, lattice_sites,       \
                   field_cache);                                                                  \
  if (get_local_id(0) == 0) tune_step_sizes_of(tuning, chain_state);

__kernel GROUP_OF(DECIDE_GROUP) void metropolis_decide(DECIDE_PARAMETERS) { DECIDE_BODY(0) }

__kernel GROUP_OF(DECIDE_GROUP) void metropolis_settle(DECIDE_PARAMETERS) { DECIDE_BODY(1) }
