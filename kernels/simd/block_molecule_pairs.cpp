#include "kernels/simd/block_molecule_pairs.hpp"

#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/block_molecule_pairs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// @param source, target rows of x, y, z; the target's of one value where there are no `rows`
template <class T>
void sites_apart(const MoleculePairArguments<T>& a, const T* source, const T* target, T* squared) {
  const hn::ScalableTag<T> d;
  const Interaction interaction{{a.box != nullptr ? a.box[0] : 1, a.box != nullptr ? a.box[1] : 1,
                                 a.box != nullptr ? a.box[2] : 1},
                                1,
                                1};
  const Periodic<decltype(d)> periodic(d, interaction);
  const auto least = hn::Set(d, static_cast<T>(STARPMC_MINIMUM_DISTANCE_SQUARED));
  for (std::size_t i = 0; i < a.count; i += hn::Lanes(d)) {
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto from = a.rows != nullptr ? hn::LoadU(d, target + k * a.stride + i)
                                          : hn::Set(d, target[k * a.target_count]);
      auto r = hn::Sub(from, hn::LoadU(d, source + k * a.stride + i));
      if (a.box != nullptr) r = periodic.wrap(r, static_cast<int>(k));
      sum = hn::MulAdd(r, r, sum);
    }
    hn::StoreU(hn::Max(sum, least), d, squared + i);
  }
}

template <class T>
void add_within(const T* squared, T squared_cutoff, const T* values, std::size_t count, T* sums) {
  const hn::ScalableTag<T> d;
  const auto cutoff = hn::Set(d, squared_cutoff);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto within = hn::Lt(hn::LoadU(d, squared + i), cutoff);
    const auto value = hn::IfThenElseZero(within, hn::LoadU(d, values + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), value), d, sums + i);
  }
}

void SitesApartDouble(const MoleculePairArguments<double>& a, const double* source,
                      const double* target, double* squared) {
  sites_apart(a, source, target, squared);
}
void SitesApartFloat(const MoleculePairArguments<float>& a, const float* source,
                     const float* target, float* squared) {
  sites_apart(a, source, target, squared);
}
void AddWithinDouble(const double* squared, double squared_cutoff, const double* values,
                     std::size_t count, double* sums) {
  add_within(squared, squared_cutoff, values, count, sums);
}
void AddWithinFloat(const float* squared, float squared_cutoff, const float* values,
                    std::size_t count, float* sums) {
  add_within(squared, squared_cutoff, values, count, sums);
}

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace starpmc::simd {
HWY_EXPORT(SitesApartDouble);
HWY_EXPORT(SitesApartFloat);
HWY_EXPORT(AddWithinDouble);
HWY_EXPORT(AddWithinFloat);

namespace {

void sites_apart(const MoleculePairArguments<double>& a, const double* source, const double* target,
                 double* squared) {
  HWY_DYNAMIC_DISPATCH(SitesApartDouble)(a, source, target, squared);
}
void sites_apart(const MoleculePairArguments<float>& a, const float* source, const float* target,
                 float* squared) {
  HWY_DYNAMIC_DISPATCH(SitesApartFloat)(a, source, target, squared);
}
void add_within(const double* squared, double squared_cutoff, const double* values,
                std::size_t count, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddWithinDouble)(squared, squared_cutoff, values, count, sums);
}
void add_within(const float* squared, float squared_cutoff, const float* values, std::size_t count,
                float* sums) {
  HWY_DYNAMIC_DISPATCH(AddWithinFloat)(squared, squared_cutoff, values, count, sums);
}

/// @param source rows of x, y, z
template <class T>
void fixed_sites_apart(const MoleculePairArguments<T>& a, const std::int32_t* source,
                       const std::int32_t* target, T* squared) {
  std::fill_n(squared, a.count, T{0});
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < a.count; ++i) {
      const auto units =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(target[k * a.target_count]) -
                                    static_cast<std::uint32_t>(source[k * a.stride + i]));
      const T r = static_cast<T>(units) * a.units[k];
      squared[i] += r * r;
    }
  }
  const T least = static_cast<T>(STARPMC_MINIMUM_DISTANCE_SQUARED);
  for (std::size_t i = 0; i < a.count; ++i) squared[i] = std::max(squared[i], least);
}

}  // namespace

template <class T>
BlockMoleculePairs<T>::BlockMoleculePairs(const std::vector<PairTerm>& terms) {
  for (const PairTerm& term : terms) {
    std::vector<bool> uniform(term.program.inputs.size(), true);
    uniform[0] = false;
    terms_.push_back({BlockEvaluator<T>(term.program, Rounding::quick, uniform), term.energy,
                      term.coefficients()});
    coefficients_ += term.coefficients();
  }
}

template <class T>
void BlockMoleculePairs<T>::operator()(const MoleculePairArguments<T>& a) {
  for (T* const energies : a.energies) {
    if (energies != nullptr) std::fill_n(energies, a.count, T{0});
  }
  squared_.resize(a.count);
  values_.resize(a.count);
  if (a.rows == nullptr) {
    add_pairs(a, 0, a.source_count * a.target_count);
    return;
  }
  MoleculePairArguments<T> part = a;
  std::size_t first = 0;
  for (const std::uint64_t count : a.parts) {
    for (std::size_t k = 0; k < 2; ++k) {
      part_[k].assign(a.count, T{0});
      part.energies[k] = part_[k].data();
    }
    add_pairs(part, first, first + count);
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t i = 0; a.energies[k] != nullptr && i < a.count; ++i) {
        a.energies[k][i] += part_[k][i];
      }
    }
    first += count;
  }
}

template <class T>
void BlockMoleculePairs<T>::add_pairs(const MoleculePairArguments<T>& a, std::size_t first,
                                      std::size_t last) {
  for (std::size_t pair = first; pair < last; ++pair) {
    const std::uint32_t present = terms_.size() == 1 ? 1 : a.present[pair];
    if (present == 0) continue;
    const bool mutual = a.rows != nullptr;
    const std::size_t target = mutual ? a.rows[2 * pair] : pair % a.target_count;
    const std::size_t source = mutual ? a.rows[2 * pair + 1] : pair / a.target_count * 3 * a.stride;
    if (a.fixed_sources != nullptr) {
      fixed_sites_apart(a, a.fixed_sources + source, a.fixed_targets + target, squared_.data());
    } else {
      sites_apart(a, a.sources + source, a.targets + target, squared_.data());
    }
    add_pair(a, present, a.coefficients + pair * coefficients_);
  }
}

template <class T>
void BlockMoleculePairs<T>::add_pair(const MoleculePairArguments<T>& a, std::uint32_t present,
                                     const T* coefficients) {
  for (Term& term : terms_) {
    if ((present & 1U) != 0) {
      if (term.coefficients > 0) term.evaluator.set_uniform({coefficients, term.coefficients});
      const T* const inputs[] = {squared_.data()};
      T* const outputs[] = {values_.data()};
      term.evaluator(inputs, a.count, outputs);
      const auto energy = static_cast<std::size_t>(term.energy);
      add_within(squared_.data(), a.squared_cutoffs[energy], values_.data(), a.count,
                 a.energies[energy]);
    }
    coefficients += term.coefficients;
    present >>= 1;
  }
}

template class BlockMoleculePairs<float>;
template class BlockMoleculePairs<double>;

}  // namespace starpmc::simd
#endif
