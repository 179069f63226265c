#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/qmmm_coulomb_grid.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "kernels/operations.hpp"
#include "kernels/simd/charged_sites.hpp"
#include "kernels/simd/extent-inl.hpp"
#include "kernels/simd/sites_in_reach-inl.hpp"
#include "kernels/simd/user_grid.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// Sites in registers.
constexpr std::size_t kSites = 4;

/// The grid term of a window's charged sites.
template <class Real>
class GridTerm {
 public:
  explicit GridTerm(const CoulombGridArguments<Real>& a)
      : a_(a),
        sites_(a.window),
        nearby_(sites_.size()),
        unit_(Lanes::unit(interaction())),
        lanes_(d_, interaction()),
        coulomb_(d_, interaction().coulomb_cutoff / unit_) {
    if constexpr (Lanes::kWrap) {
      for (std::size_t k = 0; k < 3; ++k) {
        const std::vector<double>& positions = *std::array{&sites_.x, &sites_.y, &sites_.z}[k];
        for (std::size_t i = 0; i < sites_.size(); ++i) {
          stored_[k].push_back({fixed_coordinate(positions[i], interaction().box[k])});
        }
      }
    }
  }

  void run() {
    std::fill_n(a_.energies.begin(), a_.window.candidates(), 0.0);
    for_each_block(
        a_.blocks, sites_, nearby_, interaction(),
        [this](std::size_t block) HWY_ATTR { add_block(block); },
        [this] {
          sites_.move_to(STARPMC_COULOMB_CONSTANT / (Coulomb::kFactor * unit_), a_.energies);
        });
  }

 private:
  using D = hn::ScalableTag<PairReal<Real>>;
  using V = VecOf<D>;
  using Lanes = Coordinates<D, Real>;
  using Stored = typename Lanes::Stored;
  using Coulomb = UncutCoulomb<D>;

  const Interaction& interaction() const { return a_.window.interaction; }

  void add_block(std::size_t block) {
    in_reach_.classify(d_, nearby_, &a_.blocks[block * BLOCK_FIELDS], interaction(), !Lanes::kWrap);
    const Real* const points = &a_.points[block * STARPMC_BLOCK_VALUES];
    add_all<Care::inside>(points, in_reach_.inside);
    add_all<Care::cut>(points, in_reach_.cut);
    add_all<Care::full>(points, in_reach_.close);
    if (a_.blocks[block * BLOCK_FIELDS + BLOCK_EXTENT] > 0) add_extents(points);
  }

  void add_extents(const Real* points) {
    std::array<const Real*, 5> columns;
    for (std::size_t k = 0; k < 5; ++k) columns[k] = points + k * STARPMC_BLOCK_POINTS;
    const RelativeSites<D>& sites = in_reach_.close;
    for (std::size_t i = 0; i < sites.count; ++i) {
      const std::size_t index = site(sites, i);
      std::array<Real, 3> target;
      if constexpr (Lanes::kWrap) {
        target = {stored_[0][index], stored_[1][index], stored_[2][index]};
      } else {
        target = {sites.x[i], sites.y[i], sites.z[i]};
      }
      sites_.energy[index] +=
          Coulomb::kFactor * unit_ * extent_energy<Real>(target, columns, interaction());
    }
  }

  template <Care kCare>
  void add_all(const Real* points, const RelativeSites<D>& sites) {
    std::size_t i = 0;
    for (; i + kSites <= sites.count; i += kSites) add<kSites, kCare>(points, sites, i);
    for (; i < sites.count; ++i) add<1, kCare>(points, sites, i);
  }

  /// Energy of some sites, which stay in registers, with a block, which stays in the first-level
  /// cache.
  template <std::size_t kTargets, Care kCare>
  HWY_INLINE void add(const Real* points, const RelativeSites<D>& sites, std::size_t first) {
    Point<Stored> targets[kTargets];
    V sums[kTargets];
    for (std::size_t k = 0; k < kTargets; ++k) {
      targets[k] = target(sites, first + k);
      sums[k] = hn::Zero(d_);
    }
    for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d_)) {
      const Point<Stored> source{lanes_.load(d_, points + i),
                                 lanes_.load(d_, points + STARPMC_BLOCK_POINTS + i),
                                 lanes_.load(d_, points + 2 * STARPMC_BLOCK_POINTS + i)};
      const V charge = load_charge(points + 3 * STARPMC_BLOCK_POINTS + i);
      pair_step(lanes_, targets, source, [&](std::size_t k, V r2) HWY_ATTR {
        if constexpr (kCare == Care::full) r2 = hn::Max(r2, least_square());
        const V sum = hn::MulAdd(charge, coulomb_.energy(d_, r2), sums[k]);
        sums[k] = kCare == Care::inside
                      ? sum
                      : hn::IfThenElse(hn::Lt(r2, coulomb_.cutoff_squared), sum, sums[k]);
      });
    }
    for (std::size_t k = 0; k < kTargets; ++k) {
      WideSum<D> sum;
      sum.add(d_, sums[k]);
      sites_.energy[site(sites, first + k)] += sum.total();
    }
  }

  std::size_t site(const RelativeSites<D>& sites, std::size_t i) const {
    return nearby_.site[static_cast<std::size_t>(sites.nearby[i])];
  }
  HWY_INLINE Point<Stored> target(const RelativeSites<D>& sites, std::size_t i) const {
    if constexpr (Lanes::kWrap) {
      const std::size_t index = site(sites, i);
      return {lanes_.set(d_, stored_[0][index]), lanes_.set(d_, stored_[1][index]),
              lanes_.set(d_, stored_[2][index])};
    } else {
      return {lanes_.set(d_, sites.x[i]), lanes_.set(d_, sites.y[i]), lanes_.set(d_, sites.z[i])};
    }
  }
  HWY_INLINE V load_charge(const Real* from) const {
    return hn::BitCast(d_, lanes_.load(d_, from));
  }
  HWY_INLINE V least_square() const {
    return hn::Set(d_,
                   static_cast<PairReal<Real>>(STARPMC_MINIMUM_DISTANCE_SQUARED / (unit_ * unit_)));
  }

  const CoulombGridArguments<Real>& a_;
  const D d_;
  ChargedSites sites_;
  NearbySites nearby_;
  SitesInReach<D> in_reach_;
  double unit_;
  Lanes lanes_;
  Coulomb coulomb_;
  std::array<std::vector<FixedCoordinate>, 3> stored_;  ///< positions of sites_ in fixed precision
};

}  // namespace

void CoulombGridFp64(const CoulombGridArguments<double>& a) { GridTerm(a).run(); }
void CoulombGridMixed(const CoulombGridArguments<float>& a) { GridTerm(a).run(); }
void CoulombGridFixed(const CoulombGridArguments<FixedCoordinate>& a) { GridTerm(a).run(); }

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
HWY_EXPORT(CoulombGridFixed);
HWY_EXPORT(AddTo);
HWY_EXPORT(InstructionSet);

template <>
void qmmm_coulomb_grid(const CoulombGridArguments<double>& a) {
  if (const auto* const potential = potential_of(a.window.potential, &Potential::in_grid)) {
    user_coulomb_grid(a, *potential);
  } else {
    HWY_DYNAMIC_DISPATCH(CoulombGridFp64)(a);
  }
}
template <>
void qmmm_coulomb_grid(const CoulombGridArguments<float>& a) {
  if (const auto* const potential = potential_of(a.window.potential, &Potential::in_grid)) {
    user_coulomb_grid(a, *potential);
  } else {
    HWY_DYNAMIC_DISPATCH(CoulombGridMixed)(a);
  }
}
template <>
void qmmm_coulomb_grid(const CoulombGridArguments<FixedCoordinate>& a) {
  if (const auto* const potential = potential_of(a.window.potential, &Potential::in_grid)) {
    user_coulomb_grid(a, *potential);
  } else {
    HWY_DYNAMIC_DISPATCH(CoulombGridFixed)(a);
  }
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
