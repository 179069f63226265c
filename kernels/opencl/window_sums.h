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
  lane_sums(lanes, energy, shared);
  if (lane == 0) {
    energies[candidate] =
        STARPMC_COULOMB_CONSTANT / grid_reals(constants).unit * shared[item];
  }
}

/* One MM energy of each of SUM_ENTRIES entries from the window's `first` on, by one group: a partial
   energy, plus that with the start positions of the window's other molecules. The table is
   symmetric: its rows are read along the entries. shared: a value per item */
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

/* How the acceptance of one candidate changes the energy change of a later one.
   polarisation: null: none */
static inline void difference_of_candidates(WindowShape window, int accepted, int candidate,
                                            __global const int *plan,
                                            __global const real *table, const double *polarisation,
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
  if (polarisation != 0) {
    differences[DIFFERENCE_POLARISATION * matrix + at] = *polarisation;
    total += *polarisation;
  }
  ((__global float *)(differences + quick_differences(window.candidates)))[at] = (float)total;
}

/* Where a candidate's own change of the polarisation energy lies. */
static inline __global double *own_polarisation(WindowShape window, __global double *differences,
                                                int candidate) {
  return differences + own_changes(window.candidates) + OWN_POLARISATION * window.candidates +
         candidate;
}

/* A tile of the differences of candidates, those of accepted ones before later ones, tiles counted column
   by column: a group multiplies how candidates change y like matrices, some components at a time. */
#define COMPONENTS_AT_A_TIME 32
#define DIFFERENCE_ROWS_PER_ITEM (DIFFERENCE_ROWS * DIFFERENCE_COLUMNS / ADD_UP_GROUP)
typedef struct {
  int4 rows[DIFFERENCE_ROWS][COMPONENTS_AT_A_TIME / 4];
  int4 columns[DIFFERENCE_COLUMNS][COMPONENTS_AT_A_TIME / 4 + 1]; /* no two in one bank */
} ResponseTile;

/* Four components of what a candidate changes; none behind the last one of either. */
static inline int4 response_changes(WindowShape window, __global const int *plan,
                                    Response response, int candidate, int component) {
  if (candidate >= window.candidates || component >= response.components) return (int4)(0);
  const int parent = plan[plan_candidate_parent(window.layout) + candidate];
  return *(__global const int4 *)(response_of(window, plan, response, candidate) + component) -
         *(__global const int4 *)(response_of(window, plan, response, parent) + component);
}

static inline long response_product(int4 a, int4 b) {
  return (long)a.x * b.x + (long)a.y * b.y + ((long)a.z * b.z + (long)a.w * b.w);
}

static inline void differences_of_tile(WindowShape window, int tile, __global const int *plan,
                                       __global const real *table, Response response,
                                       __global double *differences, __local ResponseTile *y) {
  int tiles_column = (int)((sqrt(4.0f * (float)tile + 1.0f) - 1.0f) / 2.0f);
  while ((tiles_column + 1) * (tiles_column + 2) <= tile) ++tiles_column;
  while (tiles_column * (tiles_column + 1) > tile) --tiles_column;
  const int first_row = (tile - tiles_column * (tiles_column + 1)) * DIFFERENCE_ROWS;
  const int first_column = tiles_column * DIFFERENCE_COLUMNS;
  const int item = (int)get_local_id(0);
  const int column = item % DIFFERENCE_COLUMNS;
  const int row = item / DIFFERENCE_COLUMNS * DIFFERENCE_ROWS_PER_ITEM;
  long sums[DIFFERENCE_ROWS_PER_ITEM] = {0};
  for (int first = 0; first < response.components; first += COMPONENTS_AT_A_TIME) {
    const int quarters = COMPONENTS_AT_A_TIME / 4;
    for (int k = item; k < DIFFERENCE_ROWS * quarters; k += ADD_UP_GROUP) {
      y->rows[k / quarters][k % quarters] = response_changes(
          window, plan, response, first_row + k / quarters, first + 4 * (k % quarters));
    }
    for (int k = item; k < DIFFERENCE_COLUMNS * quarters; k += ADD_UP_GROUP) {
      y->columns[k / quarters][k % quarters] = response_changes(
          window, plan, response, first_column + k / quarters, first + 4 * (k % quarters));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < quarters; ++k) {
      const int4 later = y->columns[column][k];
      _Pragma("unroll") for (int i = 0; i < DIFFERENCE_ROWS_PER_ITEM; ++i) {
        sums[i] += response_product(y->rows[row + i][k], later);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const int candidate = first_column + column;
  if (candidate >= window.candidates) return;
  _Pragma("unroll") for (int i = 0; i < DIFFERENCE_ROWS_PER_ITEM; ++i) {
    const int accepted = first_row + row + i;
    if (accepted >= window.candidates) continue;
    const double polarisation = (double)-sums[i] / STARPMC_RESPONSE_ENERGY_UNITS;
    difference_of_candidates(window, accepted, candidate, plan, table,
                             response.components > 0 ? &polarisation : 0, differences);
  }
}

/* The same of pairs [first, first + PAIRS_PER_ITEM for each item), without a response. */
static inline void differences_of_pairs(WindowShape window, int first, __global const int *plan,
                                        __global const real *table,
                                        __global double *differences) {
  const int items = (int)get_local_size(0);
  const int end = min(first + PAIRS_PER_ITEM * items, window.candidates * window.candidates);
  for (int pair = first + (int)get_local_id(0); pair < end; pair += items) {
    difference_of_candidates(window, pair / window.candidates, pair % window.candidates, plan,
                             table, 0, differences);
  }
}

/* The own changes of OWN_PER_GROUP candidates from `first` on, by one group. shared: a value per item */
static inline void own_polarisations(WindowShape window, int first, __global const int *plan,
                                     Response response, __global double *differences,
                                     __local ulong *shared) {
  const int item = (int)get_local_id(0);
  const int lanes = ADD_UP_GROUP / OWN_PER_GROUP;
  const int lane = item % lanes;
  const int wanted = first + item / lanes;
  const int candidate = min(wanted, window.candidates - 1);
  const int parent = plan[plan_candidate_parent(window.layout) + candidate];
  const long units = response_change_units(
      response_of(window, plan, response, parent), response_of(window, plan, response, candidate),
      response.total, lane, lanes, response.components);
  lane_sums_units(lanes, (ulong)units, shared);
  if (lane == 0 && wanted < window.candidates) {
    *own_polarisation(window, differences, candidate) = response_change_energy((long)shared[item]);
  }
}

#endif
