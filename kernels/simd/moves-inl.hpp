// kernels/common/moves.h for a vector of doubles. Included once per instruction set.
#if defined(STARPMC_MOVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_MOVES_INL
#undef STARPMC_MOVES_INL
#else
#define STARPMC_MOVES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/common/layout.h"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// Values side by side with the operators that moves.h asks for; multiply and add stay apart.
struct real_t {
  using D = hwy::HWY_NAMESPACE::ScalableTag<double>;
  hwy::HWY_NAMESPACE::Vec<D> v;
};
struct word_t {
  using D = hwy::HWY_NAMESPACE::ScalableTag<std::uint64_t>;
  hwy::HWY_NAMESPACE::Vec<D> v;
};
struct mask_t {
  hwy::HWY_NAMESPACE::Mask<real_t::D> m;
};

HWY_INLINE real_t operator+(real_t a, real_t b) { return {hwy::HWY_NAMESPACE::Add(a.v, b.v)}; }
HWY_INLINE real_t operator-(real_t a, real_t b) { return {hwy::HWY_NAMESPACE::Sub(a.v, b.v)}; }
HWY_INLINE real_t operator*(real_t a, real_t b) { return {hwy::HWY_NAMESPACE::Mul(a.v, b.v)}; }
HWY_INLINE real_t operator/(real_t a, real_t b) { return {hwy::HWY_NAMESPACE::Div(a.v, b.v)}; }
HWY_INLINE word_t operator+(word_t a, word_t b) { return {hwy::HWY_NAMESPACE::Add(a.v, b.v)}; }
HWY_INLINE word_t operator&(word_t a, word_t b) { return {hwy::HWY_NAMESPACE::And(a.v, b.v)}; }
HWY_INLINE word_t operator|(word_t a, word_t b) { return {hwy::HWY_NAMESPACE::Or(a.v, b.v)}; }
HWY_INLINE word_t operator^(word_t a, word_t b) { return {hwy::HWY_NAMESPACE::Xor(a.v, b.v)}; }
HWY_INLINE word_t operator>>(word_t a, int n) {
  return {hwy::HWY_NAMESPACE::ShiftRightSame(a.v, n)};
}
HWY_INLINE real_t r_sqrt(real_t x) { return {hwy::HWY_NAMESPACE::Sqrt(x.v)}; }
HWY_INLINE real_t r_rint(real_t x) { return {hwy::HWY_NAMESPACE::Round(x.v)}; }
HWY_INLINE real_t r_floor(real_t x) { return {hwy::HWY_NAMESPACE::Floor(x.v)}; }
HWY_INLINE word_t r_bits(real_t x) { return {hwy::HWY_NAMESPACE::BitCast(word_t::D(), x.v)}; }
HWY_INLINE real_t w_real(word_t x) { return {hwy::HWY_NAMESPACE::BitCast(real_t::D(), x.v)}; }
HWY_INLINE word_t w_product32(word_t a, word_t b) {
  const hwy::HWY_NAMESPACE::Repartition<std::uint32_t, word_t::D> words;
  return {hwy::HWY_NAMESPACE::MulEven(hwy::HWY_NAMESPACE::BitCast(words, a.v),
                                      hwy::HWY_NAMESPACE::BitCast(words, b.v))};
}
HWY_INLINE word_t w_from_real(real_t x) {
  const hwy::HWY_NAMESPACE::RebindToSigned<word_t::D> integers;
  return {hwy::HWY_NAMESPACE::BitCast(
      word_t::D(), hwy::HWY_NAMESPACE::ConvertTo(integers, hwy::HWY_NAMESPACE::Round(x.v)))};
}
HWY_INLINE real_t r_max(real_t a, real_t b) { return {hwy::HWY_NAMESPACE::Max(a.v, b.v)}; }
HWY_INLINE mask_t r_equal(real_t a, real_t b) { return {hwy::HWY_NAMESPACE::Eq(a.v, b.v)}; }
HWY_INLINE mask_t r_less(real_t a, real_t b) { return {hwy::HWY_NAMESPACE::Lt(a.v, b.v)}; }
HWY_INLINE real_t r_select(mask_t mask, real_t a, real_t b) {
  return {hwy::HWY_NAMESPACE::IfThenElse(mask.m, a.v, b.v)};
}
HWY_INLINE real_t real_constant(double x) { return {hwy::HWY_NAMESPACE::Set(real_t::D(), x)}; }
HWY_INLINE word_t word_constant(std::uint64_t x) {
  return {hwy::HWY_NAMESPACE::Set(word_t::D(), x)};
}

#define REAL(x) real_constant(x)
#define WORD(x) word_constant(x)
#define STARPMC_FUNCTION HWY_INLINE
#include "kernels/common/moves.h"
#define STARPMC_FUNCTION HWY_INLINE
#include "kernels/common/exact_pairs.h"
#undef REAL
#undef WORD

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
