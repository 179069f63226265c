#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/grid_potential.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/operations.hpp"
#include "kernels/simd/charged_sites.hpp"
#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

constexpr std::size_t kVectors = 4;

/// Potential of some charges at kVectors vectors of points, which stay in registers: the pair sum
/// with its roles swapped.
template <Care kCare, class D>
HWY_INLINE void add_potential(D d, const hn::TFromD<D>* points,
                              const SiteBlock<hn::TFromD<D>>& sites,
                              const std::vector<double>& charges, const std::vector<int>& indices,
                              std::size_t count, const CoulombLanes<D>& coulomb,
                              const Periodic<D>& periodic, WideSumOf<D, kVectors>& sums) {
  using V = VecOf<D>;
  Point<V> targets[kVectors];
  for (std::size_t k = 0; k < kVectors; ++k) {
    const hn::TFromD<D>* const first = points + k * hn::Lanes(d);
    targets[k] = {hn::LoadU(d, first), hn::LoadU(d, first + STARPMC_BLOCK_POINTS),
                  hn::LoadU(d, first + 2 * STARPMC_BLOCK_POINTS)};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto site = static_cast<std::size_t>(indices[i]);
    const Point<V> source{hn::Set(d, sites.x[site]), hn::Set(d, sites.y[site]),
                          hn::Set(d, sites.z[site])};
    const V charge = hn::Set(d, static_cast<hn::TFromD<D>>(charges[site]));
    pair_step<kVectors, kCare>(d, targets, source, periodic, [&](std::size_t k, V r2) HWY_ATTR {
      const V energy = hn::Mul(charge, coulomb.energy(distance(d, r2)));
      sums.add(d, k, hn::IfThenElseZero(hn::Lt(r2, coulomb.cutoff_squared), energy));
    });
  }
}

template <class Real>
void potential(const GridPotentialArguments<Real>& a) {
  using D = hn::ScalableTag<Real>;
  const D d;
  const CoulombLanes<D> coulomb(d, a.interaction.coulomb_cutoff);
  const Periodic<D> periodic(d, a.interaction);
  const ChargedSites charges(a);
  SiteBlock<Real> relative(charges.size());
  const std::size_t blocks = a.blocks.size() / BLOCK_FIELDS;
  const std::size_t step = kVectors * hn::Lanes(d);
  for (std::size_t block = 0; block < blocks; ++block) {
    relative.classify(charges, &a.blocks[block * BLOCK_FIELDS], a.interaction);
    for (std::size_t first = 0; first < STARPMC_BLOCK_POINTS; first += step) {
      const Real* const points = &a.points[block * 4 * STARPMC_BLOCK_POINTS + first];
      WideSumOf<D, kVectors> sums;
      add_potential<Care::cut>(d, points, relative, charges.charge, relative.inside,
                               relative.inside_count, coulomb, periodic, sums);
      add_potential<Care::cut>(d, points, relative, charges.charge, relative.cut,
                               relative.cut_count, coulomb, periodic, sums);
      add_potential<Care::full>(d, points, relative, charges.charge, relative.full,
                                relative.full_count, coulomb, periodic, sums);
      sums.store(d, STARPMC_COULOMB_CONSTANT, &a.potential[block * STARPMC_BLOCK_POINTS + first]);
    }
  }
}

}  // namespace

void GridPotentialFp64(const GridPotentialArguments<double>& a) { potential(a); }
void GridPotentialMixed(const GridPotentialArguments<float>& a) { potential(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(GridPotentialFp64);
HWY_EXPORT(GridPotentialMixed);

template <>
void grid_potential(const GridPotentialArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(GridPotentialFp64)(a);
}
template <>
void grid_potential(const GridPotentialArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(GridPotentialMixed)(a);
}
}  // namespace starpmc::simd
#endif
