/* What follows from a window's pair energies: the energies of its entries, and how they change with
   each acceptance. */
#ifndef STARPMC_OPENCL_WINDOW_SUMS_H
#define STARPMC_OPENCL_WINDOW_SUMS_H

#include "opencl/compact_block.h"
#include "opencl/reduction.h"
#include "opencl/response.h"
#include "opencl/window.h"

/* Grid energies of the candidates [first, first + per_group), by one group: sums over a candidate's
   sites and all parts, in a fixed order. shared: a value per item */
static inline void grid_sums_of_candidates(PairConstants constants, int sites_per_candidate,
                                           int capacity, int parts, int candidates, int first,
                                           int per_group, __global const double *sites,
                                           __global const double *partials,
                                           __global double *energies, __local double *shared) {
  const int item = (int)get_local_id(0);
  const int lanes = (int)get_local_size(0) / per_group;
  const int candidate = min(first + item / lanes, candidates - 1); /* some do the last one, too */
  const int lane = item % lanes;
  const int first_site = candidate * sites_per_candidate;
  __global const double *charges = sites + 3 * capacity;
  double energy = 0;
  for (int part = lane; part < parts; part += lanes) {
    for (int site = first_site; site < first_site + sites_per_candidate; ++site) {
      energy += charges[site] * partials[part * (ulong)capacity + site];
    }
  }
  shared[item] = energy;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = lanes / 2; half_size > 0; half_size /= 2) {
    if (lane < half_size) shared[item] += shared[item + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) {
    energies[candidate] =
        STARPMC_COULOMB_CONSTANT / grid_reals(constants).unit * shared[item];
  }
}

/* One MM energy of each of SUM_ENTRIES entries from the window's `first` on, by one group: a partial
   energy, plus that with the start positions of the window's other molecules. The table is
   symmetric: its rows are read along the entries. shared: a value per item */
#define SUM_ENTRIES 16
static inline void mm_sums_of_entries(WindowShape window, int term, int first,
                                      __global const double *partial, __global const real *table,
                                      __global double *energies, __local double *shared) {
  const int rows = entry_capacity(window.layout);
  const int item = (int)get_local_id(0);
  const int parts = (int)get_local_size(0) / SUM_ENTRIES;
  const int index = first + item % SUM_ENTRIES;
  const int wanted = index < window.candidates + window.starts;
  const int entry = entry_at(window, wanted ? index : 0);
  __global const real *column =
      table + (ulong)(term * rows + start_entry(window.layout, 0)) * rows + entry;
  double sum = 0;
  for (int slot = item / SUM_ENTRIES; slot < window.starts; slot += parts) {
    sum += (double)column[slot * rows];
  }
  shared[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = parts / 2; half_size > 0; half_size /= 2) {
    if (item < half_size * SUM_ENTRIES) shared[item] += shared[item + half_size * SUM_ENTRIES];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item < SUM_ENTRIES && wanted) {
    energies[term * rows + entry] = partial[term * rows + entry] + shared[item];
  }
}

static inline void difference_of_candidates(WindowShape window, int accepted, int candidate,
                                            __global const int *plan,
                                            __global const real *table, Response response,
                                            __global double *differences) {
  __global const int *steps = plan + plan_candidate_step(window.layout);
  if (steps[accepted] >= steps[candidate]) return;
  __global const int *parents = plan + plan_candidate_parent(window.layout);
  const int rows = entry_capacity(window.layout);
  const int left = parents[accepted];
  const int from = parents[candidate];
  const int at = accepted * window.candidates + candidate;
  const int matrix = window.candidates * window.candidates;
  double total = 0;
  double magnitude = 0;
  _Pragma("unroll") for (int term = 0; term < MM_TERMS; ++term) {
    __global const real *gone = table + (term * rows + left) * rows;
    __global const real *come = table + (term * rows + accepted) * rows;
    const double there = (double)come[candidate] - (double)gone[candidate];
    const double here = (double)come[from] - (double)gone[from];
    differences[term * matrix + at] = there - here;
    total += there - here;
    magnitude += STARPMC_MAGNITUDE_WEIGHT(term) * (fabs(there) + fabs(here));
  }
  differences[DIFFERENCE_MAGNITUDE * matrix + at] = magnitude;
  if (response.components > 0) {
    const double difference = response_difference(window, plan, response, accepted, candidate);
    differences[DIFFERENCE_POLARISATION * matrix + at] = difference;
    total += difference;
  }
  ((__global float *)(differences + quick_differences(window.candidates)))[at] = (float)total;
}

#endif
