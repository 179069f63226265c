#include "kernels/simd/block_row.hpp"

#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/block_row.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/pair_sum-inl.hpp"

#ifndef STARPMC_BLOCK_ROW_ONCE
#define STARPMC_BLOCK_ROW_ONCE
namespace starpmc::simd {
template <class Real>
struct DistanceArguments {
  const Real* source[3];
  Real target[3];
  Real least;
  std::size_t count;
  Real* squared_distances;
};
template <class Real>
struct CutArguments {
  const Real* squared_distances;
  Real squared_cutoff;
  const Real* values;
  std::size_t count;
  Real* per_source;  ///< added to, unless null
};
}  // namespace starpmc::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// Whole vectors, then one value at a time.
template <class Real, class Function>
HWY_INLINE void for_lanes(std::size_t count, const Function& function) {
  const hn::ScalableTag<Real> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) function(d, i);
  for (; i < count; ++i) function(hn::CappedTag<Real, 1>(), i);
}

template <class Real>
void squared_distances(const DistanceArguments<Real>& a) {
  for_lanes<Real>(a.count, [&](auto d, std::size_t i) HWY_ATTR {
    const auto along = [&](std::size_t axis) HWY_ATTR {
      return hn::Sub(hn::Set(d, a.target[axis]), hn::LoadU(d, a.source[axis] + i));
    };
    const auto x = along(0);
    const auto y = along(1);
    const auto z = along(2);
    const auto r2 = hn::MulAdd(x, x, hn::MulAdd(y, y, hn::Mul(z, z)));
    const auto least = hn::Set(d, a.least);
    hn::StoreU(hn::IfThenElse(hn::Lt(r2, least), least, r2), d, a.squared_distances + i);
  });
}

template <class Real>
double add_within_cutoff(const CutArguments<Real>& a) {
  double total = 0;
  WideSum<hn::ScalableTag<Real>> sum;
  for_lanes<Real>(a.count, [&](auto d, std::size_t i) HWY_ATTR {
    const auto within = hn::Lt(hn::LoadU(d, a.squared_distances + i), hn::Set(d, a.squared_cutoff));
    const auto values = hn::IfThenElseZero(within, hn::LoadU(d, a.values + i));
    if (a.per_source != nullptr) {
      hn::StoreU(hn::Add(hn::LoadU(d, a.per_source + i), values), d, a.per_source + i);
    } else if constexpr (hn::MaxLanes(decltype(d)()) == 1) {
      total += static_cast<double>(hn::GetLane(values));
    } else {
      sum.add(d, values);
    }
  });
  return total + sum.total();
}

}  // namespace

void DistancesDouble(const DistanceArguments<double>& a) { squared_distances(a); }
void DistancesFloat(const DistanceArguments<float>& a) { squared_distances(a); }
double CutDouble(const CutArguments<double>& a) { return add_within_cutoff(a); }
double CutFloat(const CutArguments<float>& a) { return add_within_cutoff(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <limits>

#include "error.hpp"

namespace starpmc::simd {
HWY_EXPORT(DistancesDouble);
HWY_EXPORT(DistancesFloat);
HWY_EXPORT(CutDouble);
HWY_EXPORT(CutFloat);

namespace {

void find_distances(const DistanceArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(DistancesDouble)(a);
}
void find_distances(const DistanceArguments<float>& a) { HWY_DYNAMIC_DISPATCH(DistancesFloat)(a); }
double add_cut(const CutArguments<double>& a) { return HWY_DYNAMIC_DISPATCH(CutDouble)(a); }
double add_cut(const CutArguments<float>& a) { return HWY_DYNAMIC_DISPATCH(CutFloat)(a); }

/// Sources at a time: their distances and results stay in the first-level cache.
constexpr std::size_t kChunk = 256;

}  // namespace

template <class Real>
BlockRow<Real>::BlockRow(const Program& program, const compiled::RowShape& shape)
    : shape_(shape),
      evaluator_(program, Rounding::quick, shape.uniform),
      uniform_inputs_(static_cast<std::size_t>(std::ranges::count(shape.uniform, true))),
      outputs_(program.outputs.size()),
      distance_position_(0),
      squared_distances_(kChunk),
      results_(outputs_, std::vector<Real>(kChunk)),
      inputs_(program.inputs.size() - uniform_inputs_) {
  compiled::check_shape(program, shape);
  for (std::uint32_t i = 0; i < shape.squared_distance; ++i) {
    if (shape.uniform.empty() || !shape.uniform[i]) ++distance_position_;
  }
}

template <class Real>
void BlockRow<Real>::operator()(const compiled::RowArguments<Real>& a) {
  result_rows_.clear();
  for (auto& row : results_) result_rows_.push_back(row.data());
  if (uniform_inputs_ > 0) evaluator_.set_uniform({a.uniform, uniform_inputs_});
  for (std::size_t start = 0; start < a.count; start += kChunk) {
    for (std::uint32_t target = 0; target < shape_.targets; ++target) {
      add_target(a, target, start, std::min(kChunk, a.count - start));
    }
  }
}

template <class Real>
void BlockRow<Real>::add_target(const compiled::RowArguments<Real>& a, std::uint32_t target,
                                std::size_t start, std::size_t count) {
  const Real* const r = a.targets + std::size_t{3} * target;
  find_distances(
      DistanceArguments<Real>{{a.source[0] + start, a.source[1] + start, a.source[2] + start},
                              {r[0], r[1], r[2]},
                              static_cast<Real>(shape_.least_squared_distance),
                              count,
                              squared_distances_.data()});
  const Real* const* varying = a.varying;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i] = i == distance_position_ ? squared_distances_.data() : *varying++ + start;
  }
  evaluator_(inputs_, count, result_rows_);
  const bool totals = shape_.result == compiled::RowResult::totals;
  for (std::size_t k = 0; k < outputs_; ++k) {
    const Real cutoff = shape_.cut ? a.squared_cutoffs[k] : std::numeric_limits<Real>::infinity();
    const double sum =
        add_cut(CutArguments<Real>{squared_distances_.data(), cutoff, results_[k].data(), count,
                                   totals ? nullptr : a.per_source[k] + start});
    if (totals) a.totals[target * outputs_ + k] += sum;
  }
}

template class BlockRow<float>;
template class BlockRow<double>;

}  // namespace starpmc::simd
#endif
