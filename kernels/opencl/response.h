/* The solute's response to a window's molecules (common/layout.h), and what follows from it for the
   polarisation energy -1/2 |Y|^2. Everything is a sum of integers, and so are energies as multiples of a
   power of 2: exact in any order. */
#ifndef STARPMC_OPENCL_RESPONSE_H
#define STARPMC_OPENCL_RESPONSE_H

#include "opencl/window.h"

typedef struct {
  int components; /* a multiple of 8; 0: none */
  __global const int *candidates;
  __global int *molecules;
  __global long *total;
} Response;

/* y of an entry. */
static inline __global const int *response_of(WindowShape window, __global const int *plan,
                                              Response response, int entry) {
  if (entry < window.layout.candidates) return response.candidates + entry * response.components;
  return response.molecules + molecule_of_entry(window, plan, entry) * response.components;
}

/* Part of the energy change of a move that changes y by d, where the sum of all y is Y: of d . (2 Y + d).
   TOTAL: an address space */
#define DEFINE_RESPONSE_CHANGE_UNITS(NAME, TOTAL)                                       \
  static inline long NAME(__global const int *from, __global const int *to,             \
                          TOTAL const long *total, int first, int step, int components) { \
    long twice = 0;                                                                     \
    for (int k = first; k < components; k += step) {                                    \
      const long moved = to[k] - from[k];                                               \
      twice += moved * (2 * total[k] + moved);                                          \
    }                                                                                   \
    return twice;                                                                       \
  }
DEFINE_RESPONSE_CHANGE_UNITS(response_change_units, __global)
DEFINE_RESPONSE_CHANGE_UNITS(response_change_units_so_far, __local)
/* The energy change: -(d . (2 Y + d))/2. */
static inline double response_change_energy(long twice) {
  return (double)-twice / (2 * STARPMC_RESPONSE_ENERGY_UNITS);
}

/* How a move that changes y by a changes what one by b costs: -a . b. */
static inline double response_difference(WindowShape window, __global const int *plan,
                                         Response response, int accepted, int candidate) {
  __global const int *parents = plan + plan_candidate_parent(window.layout);
  __global const int4 *a = (__global const int4 *)response_of(window, plan, response, accepted);
  __global const int4 *left =
      (__global const int4 *)response_of(window, plan, response, parents[accepted]);
  __global const int4 *b = (__global const int4 *)response_of(window, plan, response, candidate);
  __global const int4 *from =
      (__global const int4 *)response_of(window, plan, response, parents[candidate]);
  long sum = 0;
  _Pragma("unroll 4") for (int k = 0; k < response.components / 4; ++k) {
    const int4 c = a[k] - left[k];
    const int4 d = b[k] - from[k];
    sum += (long)c.x * d.x + (long)c.y * d.y + ((long)c.z * d.z + (long)c.w * d.w);
  }
  return (double)-sum / STARPMC_RESPONSE_ENERGY_UNITS;
}

#endif
