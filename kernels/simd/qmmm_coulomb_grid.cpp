#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/qmmm_coulomb_grid.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <vector>

#include "kernels/operations.hpp"
#include "kernels/simd/charged_sites.hpp"
#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// Energy of kTargets sites with one compact block of points; the sites stay in registers while the
/// block, which fits the first-level cache, streams past them.
template <std::size_t kTargets, Care kCare, class D>
HWY_INLINE void block_energies(D d, const hn::TFromD<D>* points,
                               const SiteBlock<hn::TFromD<D>>& sites, const int* indices,
                               const CoulombLanes<D>& coulomb, const Periodic<D>& periodic,
                               double* energies) {
  using V = VecOf<D>;
  Point<V> targets[kTargets];
  V sums[kTargets];
  for (std::size_t k = 0; k < kTargets; ++k) {
    const auto site = static_cast<std::size_t>(indices[k]);
    targets[k] = {hn::Set(d, sites.x[site]), hn::Set(d, sites.y[site]), hn::Set(d, sites.z[site])};
    sums[k] = hn::Zero(d);
  }
  for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
    const Point<V> source{hn::LoadU(d, points + i), hn::LoadU(d, points + STARPMC_BLOCK_POINTS + i),
                          hn::LoadU(d, points + 2 * STARPMC_BLOCK_POINTS + i)};
    const V charge = hn::LoadU(d, points + 3 * STARPMC_BLOCK_POINTS + i);
    pair_step<kTargets, kCare>(d, targets, source, periodic, [&](std::size_t k, V r2) HWY_ATTR {
      const V energy = coulomb.energy(distance(d, r2));
      if constexpr (kCare == Care::inside) {
        sums[k] = hn::MulAdd(charge, energy, sums[k]);
      } else {
        const auto within = hn::Lt(r2, coulomb.cutoff_squared);
        sums[k] = hn::IfThenElse(within, hn::MulAdd(charge, energy, sums[k]), sums[k]);
      }
    });
  }
  for (std::size_t k = 0; k < kTargets; ++k) {
    WideSum<D> sum;
    sum.add(d, sums[k]);
    energies[indices[k]] += sum.total();
  }
}

template <Care kCare, class D>
void all_block_energies(D d, const hn::TFromD<D>* points, const SiteBlock<hn::TFromD<D>>& sites,
                        const std::vector<int>& indices, std::size_t count,
                        const CoulombLanes<D>& coulomb, const Periodic<D>& periodic,
                        double* energies) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    block_energies<4, kCare>(d, points, sites, &indices[i], coulomb, periodic, energies);
  }
  for (; i < count; ++i) {
    block_energies<1, kCare>(d, points, sites, &indices[i], coulomb, periodic, energies);
  }
}

template <class Real>
void coulomb_grid(const CoulombGridArguments<Real>& a) {
  using D = hn::ScalableTag<Real>;
  const D d;
  const Interaction& interaction = a.window.interaction;
  const CoulombLanes<D> coulomb(d, interaction.coulomb_cutoff);
  const Periodic<D> periodic(d, interaction);
  ChargedSites sites(a.window);
  SiteBlock<Real> relative(sites.size());
  const std::size_t blocks = a.blocks.size() / BLOCK_FIELDS;
  for (std::size_t block = 0; block < blocks; ++block) {
    relative.classify(sites, &a.blocks[block * BLOCK_FIELDS], interaction);
    const Real* const points = &a.points[block * 4 * STARPMC_BLOCK_POINTS];
    double* const energies = sites.energy.data();
    all_block_energies<Care::inside>(d, points, relative, relative.inside, relative.inside_count,
                                     coulomb, periodic, energies);
    all_block_energies<Care::cut>(d, points, relative, relative.cut, relative.cut_count, coulomb,
                                  periodic, energies);
    all_block_energies<Care::full>(d, points, relative, relative.full, relative.full_count, coulomb,
                                   periodic, energies);
  }
  sites.collect(a.energies);
}

}  // namespace

void CoulombGridFp64(const CoulombGridArguments<double>& a) { coulomb_grid(a); }
void CoulombGridMixed(const CoulombGridArguments<float>& a) { coulomb_grid(a); }

void AddTo(const double* values, double* sums, std::size_t count) {
  const hn::ScalableTag<double> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, values + i)), d, sums + i);
  }
  for (; i < count; ++i) sums[i] += values[i];
}

const char* InstructionSet() { return hwy::TargetName(HWY_TARGET); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace starpmc::simd {
HWY_EXPORT(CoulombGridFp64);
HWY_EXPORT(CoulombGridMixed);
HWY_EXPORT(AddTo);
HWY_EXPORT(InstructionSet);

template <>
void qmmm_coulomb_grid(const CoulombGridArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(CoulombGridFp64)(a);
}
template <>
void qmmm_coulomb_grid(const CoulombGridArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(CoulombGridMixed)(a);
}

void qmmm_coulomb_grid_reduce(const CoulombGridReduceArguments& a) {
  const auto candidates = static_cast<std::size_t>(a.candidates);
  std::fill_n(a.energies.begin(), candidates, 0.0);
  for (const auto& partial : a.partials) {
    HWY_DYNAMIC_DISPATCH(AddTo)(partial.data(), a.energies.data(), candidates);
  }
}

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(InstructionSet)(); }
}  // namespace starpmc::simd
#endif
