/* kernels/common/moves.h for one double at a time. */
#ifndef STARPMC_OPENCL_MOVES_H
#define STARPMC_OPENCL_MOVES_H

#include "opencl/portable.h"

/* Positions, thresholds and decisions have the same bits on every device. */
#pragma OPENCL FP_CONTRACT OFF

typedef double real_t;
typedef ulong word_t;
typedef int mask_t;
#define REAL(x) (x)
#define WORD(x) ((ulong)(x))
#define r_sqrt(x) sqrt(x)
#define r_rint(x) rint(x)
#define r_floor(x) floor(x)
#define r_bits(x) as_ulong(x)
#define w_real(x) as_double(x)
#define w_product32(a, b) ((a) * (b))
#define r_equal(a, b) ((a) == (b))
#define r_less(a, b) ((a) < (b))
#define r_select(mask, a, b) ((mask) ? (a) : (b))
#define STARPMC_FUNCTION static inline
#include "common/moves.h"
#define w_from_real(x) as_ulong(convert_long(rint(x)))
#define r_max(a, b) fmax(a, b)
#define STARPMC_FUNCTION static inline
#include "common/exact_pairs.h"

/* floor(uniform * molecules); the minimum guards the rounding of the product. */
static inline int molecule_from_uniform(double uniform, int molecules) {
  return min(molecules - 1, (int)(uniform * molecules));
}

/* The step's: where the chain's state has some that are moved, these in turn. */
static inline int chosen_molecule(double uniform, ulong step, __global const double *chain_state,
                                  int molecules) {
  const int chosen = (int)chain_state[STATE_REGION_MOLECULES];
  if (chosen == 0) return molecule_from_uniform(uniform, molecules);
  return (int)chain_state[STATE_REGION_FIRST + (int)(step % (ulong)chosen)];
}

#endif
