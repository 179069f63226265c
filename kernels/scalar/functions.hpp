#pragma once

#include "kernels/scalar/moves.hpp"

/// kernels/common/functions.h and angle_functions.h for one double at a time.
namespace starpmc::scalar {

inline mask_t r_both(mask_t a, mask_t b) { return a && b; }
inline mask_t r_either(mask_t a, mask_t b) { return a || b; }
inline bool r_any(mask_t mask) { return mask; }
inline word_t w_entry(const std::uint64_t* table, word_t index) { return table[index]; }

#define REAL(x) \
  real_t { x }
#define WORD(x) \
  word_t { x }
#define STARPMC_TABLE inline constexpr std::uint64_t
#define STARPMC_FUNCTION inline
#include "kernels/common/functions.h"
#define STARPMC_FUNCTION inline
#include "kernels/common/angle_functions.h"
#undef REAL
#undef WORD
#undef STARPMC_TABLE

}  // namespace starpmc::scalar
