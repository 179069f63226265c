/* The molecules that an entry meets, listed by its work-group: few of a lattice are within reach, and
   items with and without a neighbour side by side would wait for each other. */
#ifndef STARPMC_OPENCL_NEIGHBOUR_LIST_H
#define STARPMC_OPENCL_NEIGHBOUR_LIST_H

#include "opencl/pair_functions.h"

/* Molecules that are listed at a time, one bit per item and molecule. */
#define MOLECULES_PER_ITEM 16
#define LISTED_AT_A_TIME (MOLECULES_PER_ITEM * PAIR_GROUP)

/* What a search is for. */
typedef struct {
  double3 centre;
  real reach_squared;
  real near_squared;
} Search;

typedef struct {
  int far;  /* molecules listed first */
  int near; /* and behind them, those to be evaluated in fp64 */
} Listed;

/* One bit per molecule of the item: first + item, first + item + PAIR_GROUP, ... */
typedef struct {
  uint far;
  uint near;
} Chosen;

static inline Chosen choose_molecules(Search search, PairReals reals, int first, int last,
                                      int stride, __global const double *lattice,
                                      __global const real *outside) {
  Chosen chosen = {0, 0};
  const int rounds = min(MOLECULES_PER_ITEM, (last - first + PAIR_GROUP - 1) / PAIR_GROUP);
  _Pragma("unroll 4") for (int k = 0; k < rounds; ++k) {
    const int wanted = first + k * PAIR_GROUP + (int)get_local_id(0);
    const int molecule = min(wanted, last - 1); /* without a branch: loads overlap */
    const real x = (real)(lattice[molecule] - search.centre.x);
    const real y = (real)(lattice[stride + molecule] - search.centre.y);
    const real z = (real)(lattice[2 * stride + molecule] - search.centre.z);
    const real dx = MINIMUM_IMAGE(x, reals.box_x, reals.inverse_x);
    const real dy = MINIMUM_IMAGE(y, reals.box_y, reals.inverse_y);
    const real dz = MINIMUM_IMAGE(z, reals.box_z, reals.inverse_z);
    const real squared = dx * dx + (dy * dy + dz * dz);
    const int reached =
        squared < search.reach_squared && wanted < last && outside[molecule] != 0;
    const int near = STARPMC_SINGLE && squared < search.near_squared;
    chosen.near |= (uint)(reached && near) << k;
    chosen.far |= (uint)(reached && !near) << k;
  }
  return chosen;
}

static inline void write_list(uint bits, int first, int place, __local ushort *list) {
  for (; bits != 0; bits &= bits - 1) {
    const int k = 31 - (int)clz(bits & -bits);
    list[place++] = (ushort)(k * PAIR_GROUP + (int)get_local_id(0));
  }
}

/* Lists the molecules of [first, last), at most LISTED_AT_A_TIME, that are within reach: relative to
   `first`, in an order that does not depend on the device's scheduling. */
static inline Listed list_neighbours(Search search, PairReals reals, int first, int last,
                                     int stride, __global const double *lattice,
                                     __global const real *outside, __local uint *counts,
                                     __local ushort *list) {
  const int item = (int)get_local_id(0);
  const Chosen chosen = choose_molecules(search, reals, first, last, stride, lattice, outside);
  const uint own = (uint)popcount(chosen.far) + ((uint)popcount(chosen.near) << 16);
  uint sum = own;
  counts[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < PAIR_GROUP; distance *= 2) {
    const uint before = item >= distance ? counts[item - distance] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += before;
    counts[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const uint total = counts[PAIR_GROUP - 1];
  const Listed listed = {(int)(total & 0xFFFF), (int)(total >> 16)};
  write_list(chosen.far, first, (int)((sum - own) & 0xFFFF), list);
  write_list(chosen.near, first, listed.far + (int)((sum - own) >> 16), list);
  barrier(CLK_LOCAL_MEM_FENCE);
  return listed;
}

#endif
