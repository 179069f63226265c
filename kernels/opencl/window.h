/* Reading a window's plan, entries and topology. */
#ifndef STARPMC_OPENCL_WINDOW_H
#define STARPMC_OPENCL_WINDOW_H

#include "opencl/portable.h"
#include "opencl/kernel_arguments.h"

/* Behind the matrices of differences each candidate's own change (OWN_FIELDS), then another matrix in
   fp32: of the sum of all MM terms, for those who only guess. */
static inline int own_changes(int candidates) { return DIFFERENCE_FIELDS * candidates * candidates; }
static inline int quick_differences(int candidates) {
  return own_changes(candidates) + OWN_FIELDS * candidates;
}

/* The window's entries, one after another: candidates, then start entries. */
static inline int entry_at(WindowShape window, int index) {
  return index < window.candidates ? index
                                   : start_entry(window.layout, index - window.candidates);
}

static inline int molecule_of_candidate(WindowShape window, __global const int *plan,
                                        int candidate) {
  const int planned = plan[plan_candidate_step(window.layout) + candidate];
  return plan[plan_step_molecule(window.layout) + planned];
}

static inline int molecule_of_entry(WindowShape window, __global const int *plan, int entry) {
  return entry < window.layout.candidates
             ? molecule_of_candidate(window, plan, entry)
             : plan[plan_start_molecule(window.layout) + entry - window.layout.candidates];
}

static inline double entry_field(WindowShape window, __global const double *entries, int field,
                                 int entry) {
  return entries[field * entry_capacity(window.layout) + entry];
}

static inline double3 entry_centre(WindowShape window, __global const double *entries, int entry) {
  return (double3)(entry_field(window, entries, POSE_X, entry),
                   entry_field(window, entries, POSE_Y, entry),
                   entry_field(window, entries, POSE_Z, entry));
}

/* Displacement of a site from the centre. */
static inline double3 entry_displacement(WindowShape window, __global const double *entries,
                                         int entry, int site) {
  const int field = POSE_FIELDS + 3 * site;
  return (double3)(entry_field(window, entries, field, entry),
                   entry_field(window, entries, field + 1, entry),
                   entry_field(window, entries, field + 2, entry));
}

static inline double site_charge(TopologyShape topology, __global const double *reals, int type,
                                 int site) {
  return reals[topology_site(topology, type, site) + 3];
}

static inline int site_count(TopologyShape topology, __global const int *integers, int type) {
  return integers[topology_site_count(topology, type)];
}

static inline int site_type(TopologyShape topology, __global const int *integers, int type,
                            int site) {
  return integers[topology_site_type(topology, type, site)];
}

/* A site as lattice_sites stores it. */
static inline coordinate stored_site(double centre, double displacement, double edge) {
#if STARPMC_FIXED
  return fixed_coordinate(centre + displacement, edge);
#else
  return (real)displacement;
#endif
}

/* An energy term of a pair of molecules (STARPMC_LARGEST_PAIR_ENERGY). */
static inline double limited_pair_energy(double energy) {
  return energy < STARPMC_LARGEST_PAIR_ENERGY ? energy : STARPMC_LARGEST_PAIR_ENERGY;
}
/* The same with functions of the user's: they may fall, too, or be no number. */
static inline double limited_user_energy(double energy) {
  return fmax(limited_pair_energy(energy), -STARPMC_LARGEST_PAIR_ENERGY);
}

#endif
