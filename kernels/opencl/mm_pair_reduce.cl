#include "opencl/doubt_list.h"
#include "opencl/window_sums.h"

/* Adds one buffer of partial energies; `first`: there is nothing to add to yet. */
__kernel void add_partial_energies(int count, int first, BUFFER(partial), BUFFER(energies)) {
  CONSTANT_ARRAY(double, partial);
  ARRAY(double, energies);
  const int index = (int)get_global_id(0);
  if (index < count) energies[index] = first ? partial[index] : energies[index] + partial[index];
}

/* Work-groups: (SUM_ENTRIES entries each, terms). shared: local memory, a value per item */
__kernel GROUP_OF(SUM_GROUP) void mm_pair_reduce(WindowShape window, BUFFER(partial),
                                                 BUFFER(table), BUFFER(energies),
                                                 __local double *shared) {
  CONSTANT_ARRAY(double, partial);
  CONSTANT_ARRAY(real, table);
  ARRAY(double, energies);
  mm_sums_of_entries(window, (int)get_group_id(1), (int)get_group_id(0) * SUM_ENTRIES, partial,
                     table, energies, shared);
}

/* A work-item per pair of candidates: (later one, accepted one); where they are one, its own change of
   the polarisation energy, which a group that decides finds there. */
__kernel GROUP_OF(DIFFERENCE_GROUP) void candidate_differences(WindowShape window, BUFFER(plan),
                                                               BUFFER(table), int components,
                                                               BUFFER(responses),
                                                               BUFFER(molecule_response),
                                                               BUFFER(response_total),
                                                               BUFFER(differences),
                                                               BUFFER(doubt_list)) {
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(real, table);
  CONSTANT_ARRAY(int, responses);
  ARRAY(int, molecule_response);
  ARRAY(long, response_total);
  ARRAY(double, differences);
  ARRAY(int, doubt_list);
  const int candidate = (int)get_global_id(0);
  if (get_group_id(0) == 0 && get_group_id(1) == 0) clear_board(doubt_list, window);
  if (candidate >= window.candidates) return;
  const int accepted = (int)get_global_id(1);
  const Response response = {components, responses, molecule_response, response_total};
  double polarisation = 0;
  if (components > 0 && accepted < candidate) {
    polarisation = response_difference(window, plan, response, accepted, candidate);
  }
#if DECIDE_GROUP > 1
  if (components > 0 && accepted == candidate) {
    const int parent = plan[plan_candidate_parent(window.layout) + candidate];
    *own_polarisation(window, differences, candidate) = response_change_energy(response_change_units(
        response_of(window, plan, response, parent),
        response_of(window, plan, response, candidate), response_total, 0, 1, components));
  }
#endif
  difference_of_candidates(window, accepted, candidate, plan, table,
                           components > 0 ? &polarisation : 0, differences);
}
