#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/arithmetic_probe.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/operations.hpp"
#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// Independent chains: enough to hide the latency of an operation on two units.
constexpr std::size_t kChains = 8;
/// Sites in registers, as in qmmm_coulomb_grid.
constexpr std::size_t kSites = 4;

template <class D, std::size_t kVectors>
double sum_of(D d, const VecOf<D> (&values)[kVectors]) {
  WideSum<D> sum;
  for (const auto& value : values) sum.add(d, value);
  return sum.total();
}

template <class D, class Operation>
HWY_INLINE double repeat(D d, int rounds, Operation&& operation) {
  using Real = hn::TFromD<D>;
  VecOf<D> values[kChains];
  for (std::size_t k = 0; k < kChains; ++k) {
    values[k] = hn::Set(d, static_cast<Real>(0.5 + 0.1 * static_cast<double>(k)));
  }
  for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kChains; ++k) values[k] = operation(values[k]);
  }
  return sum_of(d, values);
}

/// The inner loop of qmmm_coulomb_grid with points that cost no memory access.
template <class D>
double repeat_pairs(D d, int rounds) {
  using V = VecOf<D>;
  using Real = hn::TFromD<D>;
  const UncutCoulomb<D> coulomb(d, kProbeCutoff);
  const Coordinates<D, Real> coordinates(d, {{1, 1, 1}, kProbeCutoff, kProbeCutoff});
  const V step = hn::Set(d, static_cast<Real>(kProbeStep));
  Point<V> sites[kSites];
  V sums[kSites];
  for (std::size_t k = 0; k < kSites; ++k) {
    const auto at = [&](double shift) {
      return hn::Set(d, static_cast<Real>(shift + static_cast<double>(k)));
    };
    sites[k] = {at(1), at(2), at(3)};
    sums[k] = hn::Zero(d);
  }
  V source = hn::Zero(d);
  for (int round = 0; round < rounds; ++round) {
    source = hn::Add(source, step);
    pair_step(coordinates, sites, {source, source, source}, [&](std::size_t k, V r2) HWY_ATTR {
      const V energy = coulomb.energy(d, r2);
      const auto within = hn::Lt(r2, coulomb.cutoff_squared);
      sums[k] = hn::IfThenElse(within, hn::MulAdd(source, energy, sums[k]), sums[k]);
    });
  }
  return sum_of(d, sums);
}

template <class Real>
void probe(const ArithmeticProbeArguments& a) {
  using D = hn::ScalableTag<Real>;
  using V = VecOf<D>;
  const D d;
  std::size_t vectors = kChains;
  double sum = 0;
  switch (a.loop) {
    case ArithmeticLoop::multiply_add: {
      const V factor = hn::Set(d, static_cast<Real>(0.999));
      const V term = hn::Set(d, static_cast<Real>(0.001));
      sum = repeat(d, a.rounds, [&](V x) HWY_ATTR { return hn::MulAdd(x, factor, term); });
      break;
    }
    case ArithmeticLoop::reciprocal_root:
      sum = repeat(d, a.rounds, [&](V x) HWY_ATTR { return distance(d, x).inverse; });
      break;
    case ArithmeticLoop::pair:
      vectors = kSites;
      sum = repeat_pairs(d, a.rounds);
      break;
  }
  a.result[0] = static_cast<double>(vectors * hn::Lanes(d)) * a.rounds;
  a.result[1] = sum;
}

}  // namespace

void ProbeDouble(const ArithmeticProbeArguments& a) { probe<double>(a); }
void ProbeFloat(const ArithmeticProbeArguments& a) { probe<float>(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(ProbeDouble);
HWY_EXPORT(ProbeFloat);

template <>
void arithmetic_probe<double>(const ArithmeticProbeArguments& a) {
  HWY_DYNAMIC_DISPATCH(ProbeDouble)(a);
}
template <>
void arithmetic_probe<float>(const ArithmeticProbeArguments& a) {
  HWY_DYNAMIC_DISPATCH(ProbeFloat)(a);
}
}  // namespace starpmc::simd
#endif
