#include "kernels/simd/block_molecule_pairs.hpp"

#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/block_molecule_pairs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// @param source rows of x, y, z
void SitesApart(const MoleculePairArguments& a, const double* source, const double* target,
                double* squared) {
  const hn::ScalableTag<double> d;
  const Interaction interaction{{a.box != nullptr ? a.box[0] : 1, a.box != nullptr ? a.box[1] : 1,
                                 a.box != nullptr ? a.box[2] : 1},
                                1,
                                1};
  const Periodic<decltype(d)> periodic(d, interaction);
  const auto least = hn::Set(d, STARPMC_MINIMUM_DISTANCE_SQUARED);
  for (std::size_t i = 0; i < a.count; i += hn::Lanes(d)) {
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < 3; ++k) {
      auto r = hn::Sub(hn::Set(d, target[k]), hn::LoadU(d, source + k * a.count + i));
      if (a.box != nullptr) r = periodic.wrap(r, static_cast<int>(k));
      sum = hn::MulAdd(r, r, sum);
    }
    hn::StoreU(hn::Max(sum, least), d, squared + i);
  }
}

void AddWithin(const double* squared, double squared_cutoff, const double* values,
               std::size_t count, double* sums) {
  const hn::ScalableTag<double> d;
  const auto cutoff = hn::Set(d, squared_cutoff);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto within = hn::Lt(hn::LoadU(d, squared + i), cutoff);
    const auto value = hn::IfThenElseZero(within, hn::LoadU(d, values + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), value), d, sums + i);
  }
}

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace starpmc::simd {
HWY_EXPORT(SitesApart);
HWY_EXPORT(AddWithin);

BlockMoleculePairs::BlockMoleculePairs(const std::vector<PairTerm>& terms) {
  for (const PairTerm& term : terms) {
    std::vector<bool> uniform(term.program.inputs.size(), true);
    uniform[0] = false;
    terms_.push_back({BlockEvaluator<double>(term.program, Rounding::quick, uniform), term.energy,
                      term.coefficients()});
    coefficients_ += term.coefficients();
  }
}

void BlockMoleculePairs::operator()(const MoleculePairArguments& a) {
  for (double* const energies : a.energies) std::fill_n(energies, a.count, 0.0);
  squared_.resize(a.count);
  values_.resize(a.count);
  const SitePairTerms& sites = *a.sites;
  for (std::size_t pair = 0; pair < sites.present.size(); ++pair) {
    if (sites.present[pair] == 0) continue;
    HWY_DYNAMIC_DISPATCH(SitesApart)
    (a, a.sources + pair / sites.targets * 3 * a.count, a.targets + pair % sites.targets * 3,
     squared_.data());
    add_pair(a, sites.present[pair], &sites.coefficients[pair * coefficients_]);
  }
}

void BlockMoleculePairs::add_pair(const MoleculePairArguments& a, std::uint32_t present,
                                  const double* coefficients) {
  for (Term& term : terms_) {
    if ((present & 1U) != 0) {
      if (term.coefficients > 0) term.evaluator.set_uniform({coefficients, term.coefficients});
      const double* const inputs[] = {squared_.data()};
      double* const outputs[] = {values_.data()};
      term.evaluator(inputs, a.count, outputs);
      const auto energy = static_cast<std::size_t>(term.energy);
      HWY_DYNAMIC_DISPATCH(AddWithin)
      (squared_.data(), a.squared_cutoffs[energy], values_.data(), a.count, a.energies[energy]);
    }
    coefficients += term.coefficients;
    present >>= 1;
  }
}

}  // namespace starpmc::simd
#endif
