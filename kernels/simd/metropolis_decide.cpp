#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/metropolis_decide.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/decision.hpp"
#include "kernels/operations.hpp"
#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

template <class D>
HWY_INLINE VecOf<D> load_wide(D d, const double* values) {
  return hn::LoadU(d, values);
}
template <class D>
HWY_INLINE VecOf<D> load_wide(D d, const float* values) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), values));
}

template <class Real>
void exchange(const Real* left, const Real* entered, double* energies, std::size_t count) {
  const hn::ScalableTag<double> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto change = hn::Sub(load_wide(d, entered + i), load_wide(d, left + i));
    hn::StoreU(hn::Add(hn::LoadU(d, energies + i), change), d, energies + i);
  }
  for (; i < count; ++i) {
    energies[i] += static_cast<double>(entered[i]) - static_cast<double>(left[i]);
  }
}

/// Sum over the partial energies, and over the start entries' rows of the table.
template <class Real>
void reduce(const MmPairReduceArguments<Real>& a) {
  const Window& window = a.window;
  const hn::ScalableTag<double> d;
  const auto rows = static_cast<std::size_t>(entry_capacity(window.layout));
  const auto first_start = static_cast<std::size_t>(window.layout.candidates);
  const auto starts = static_cast<std::size_t>(window.starts());
  const auto reduce_entries = [&](std::size_t term, std::size_t first, std::size_t last) {
    const PairReal<Real>* const row = &a.table[(term * rows + first_start) * rows];
    const std::size_t offset = term * rows;
    std::size_t i = first;
    for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
      auto sum = hn::Zero(d);
      for (const auto& partial : a.partials) {
        sum = hn::Add(sum, hn::LoadU(d, &partial[offset + i]));
      }
      for (std::size_t slot = 0; slot < starts; ++slot) {
        sum = hn::Add(sum, load_wide(d, row + slot * rows + i));
      }
      hn::StoreU(sum, d, &a.energies[offset + i]);
    }
    for (; i < last; ++i) {
      double sum = 0;
      for (const auto& partial : a.partials) sum += partial[offset + i];
      for (std::size_t slot = 0; slot < starts; ++slot) {
        sum += static_cast<double>(row[slot * rows + i]);
      }
      a.energies[offset + i] = sum;
    }
  };
  for (std::size_t term = 0; term < MM_TERMS; ++term) {
    reduce_entries(term, 0, static_cast<std::size_t>(window.candidates()));
    reduce_entries(term, first_start, first_start + starts);
  }
}

}  // namespace

void ExchangeFp64(const double* left, const double* entered, double* energies, std::size_t n) {
  exchange(left, entered, energies, n);
}
void ExchangeMixed(const float* left, const float* entered, double* energies, std::size_t n) {
  exchange(left, entered, energies, n);
}
void MmPairReduceFp64(const MmPairReduceArguments<double>& a) { reduce(a); }
void MmPairReduceMixed(const MmPairReduceArguments<float>& a) { reduce(a); }
void MmPairReduceFixed(const MmPairReduceArguments<FixedCoordinate>& a) { reduce(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(ExchangeFp64);
HWY_EXPORT(ExchangeMixed);
HWY_EXPORT(MmPairReduceFp64);
HWY_EXPORT(MmPairReduceMixed);
HWY_EXPORT(MmPairReduceFixed);

namespace {

void exchange_pairs(const double* left, const double* entered, double* energies,
                    std::size_t count) {
  HWY_DYNAMIC_DISPATCH(ExchangeFp64)(left, entered, energies, count);
}
void exchange_pairs(const float* left, const float* entered, double* energies, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(ExchangeMixed)(left, entered, energies, count);
}

template <class Real>
auto exchange_of() {
  return [](const PairReal<Real>* left, const PairReal<Real>* entered, double* energies,
            std::size_t count) { exchange_pairs(left, entered, energies, count); };
}

}  // namespace

template <class Real>
void metropolis_decide(const MetropolisDecideArguments<Real>& a) {
  Decision(a, exchange_of<Real>(), exact_grid_energy).run();
}
template void metropolis_decide(const MetropolisDecideArguments<double>&);
template void metropolis_decide(const MetropolisDecideArguments<float>&);
template void metropolis_decide(const MetropolisDecideArguments<FixedCoordinate>&);

template <>
void mm_pair_reduce(const MmPairReduceArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairReduceFp64)(a);
}
template <>
void mm_pair_reduce(const MmPairReduceArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairReduceMixed)(a);
}
template <>
void mm_pair_reduce(const MmPairReduceArguments<FixedCoordinate>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairReduceFixed)(a);
}
}  // namespace starpmc::simd
#endif
