#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/common/layout.h"

/// kernels/common/moves.h for one double at a time.
namespace starpmc::scalar {

using real_t = double;
using word_t = std::uint64_t;
using mask_t = bool;
inline real_t r_sqrt(real_t x) { return std::sqrt(x); }
inline real_t r_rint(real_t x) { return std::rint(x); }
inline real_t r_floor(real_t x) { return std::floor(x); }
inline word_t r_bits(real_t x) { return std::bit_cast<word_t>(x); }
inline real_t w_real(word_t x) { return std::bit_cast<real_t>(x); }
inline word_t w_product32(word_t a, word_t b) { return a * b; }
inline word_t w_from_real(real_t x) {
  return static_cast<word_t>(static_cast<std::int64_t>(std::rint(x)));
}
inline real_t r_max(real_t a, real_t b) { return a < b ? b : a; }
inline mask_t r_equal(real_t a, real_t b) { return a == b; }
inline mask_t r_less(real_t a, real_t b) { return a < b; }
inline real_t r_select(mask_t mask, real_t a, real_t b) { return mask ? a : b; }

#define REAL(x) \
  real_t { x }
#define WORD(x) \
  word_t { x }
#define STARPMC_FUNCTION inline
#include "kernels/common/moves.h"
#define STARPMC_FUNCTION inline
#include "kernels/common/exact_pairs.h"
#undef REAL
#undef WORD

/// floor(uniform * molecules); uniform < 1, the minimum guards the rounding of the product.
inline int molecule_from_uniform(double uniform, int molecules) {
  return std::min(molecules - 1, static_cast<int>(uniform * molecules));
}

/// The step's: where the chain's state has some that are moved, these in turn.
inline int chosen_molecule(double uniform, std::uint64_t step, std::span<const double> chain_state,
                           int molecules) {
  const int chosen = static_cast<int>(chain_state[STATE_REGION_MOLECULES]);
  if (chosen == 0) return molecule_from_uniform(uniform, molecules);
  return static_cast<int>(
      chain_state[STATE_REGION_FIRST + step % static_cast<std::uint64_t>(chosen)]);
}

}  // namespace starpmc::scalar
