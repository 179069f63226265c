// kernels/common/functions.h and angle_functions.h for a vector of doubles. Included once per
// instruction set.
#if defined(STARPMC_FUNCTIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_FUNCTIONS_INL
#undef STARPMC_FUNCTIONS_INL
#else
#define STARPMC_FUNCTIONS_INL
#endif

#include "kernels/simd/moves-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

HWY_INLINE word_t operator<<(word_t a, int n) {
  return {hwy::HWY_NAMESPACE::ShiftLeftSame(a.v, n)};
}
HWY_INLINE mask_t r_both(mask_t a, mask_t b) { return {hwy::HWY_NAMESPACE::And(a.m, b.m)}; }
HWY_INLINE mask_t r_either(mask_t a, mask_t b) { return {hwy::HWY_NAMESPACE::Or(a.m, b.m)}; }
HWY_INLINE bool r_any(mask_t mask) { return !hwy::HWY_NAMESPACE::AllFalse(real_t::D(), mask.m); }
HWY_INLINE word_t w_entry(const std::uint64_t* table, word_t index) {
  const hwy::HWY_NAMESPACE::RebindToSigned<word_t::D> integers;
  return {hwy::HWY_NAMESPACE::GatherIndex(word_t::D(), table,
                                          hwy::HWY_NAMESPACE::BitCast(integers, index.v))};
}

#define REAL(x) real_constant(x)
#define WORD(x) word_constant(x)
#define STARPMC_TABLE inline constexpr std::uint64_t
#define STARPMC_FUNCTION HWY_INLINE
#include "kernels/common/functions.h"
#define STARPMC_FUNCTION HWY_INLINE
#include "kernels/common/angle_functions.h"
#undef REAL
#undef WORD
#undef STARPMC_TABLE

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
