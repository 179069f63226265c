#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/user_grid.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>
#include <bit>
#include <type_traits>

#include "kernels/block_reach.hpp"
#include "kernels/scalar/pair_functions.hpp"
#include "kernels/simd/charged_sites.hpp"
#include "kernels/simd/evaluate.hpp"
#include "kernels/simd/molecule_list-inl.hpp"
#include "kernels/simd/user_grid.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// The grid term with the user's Coulomb function, in fp64 in every precision.
template <class Real>
class UserGridTerm {
 public:
  UserGridTerm(const CoulombGridArguments<Real>& a, const Potential& potential)
      : a_(a),
        sites_(a.window),
        function_(potential.coulomb),
        cutoff_squared_(interaction().coulomb_cutoff * interaction().coulomb_cutoff),
        displacements_(D(), interaction()) {}

  void run() {
    for (std::size_t block = 0; block * BLOCK_FIELDS < a_.blocks.size(); ++block) {
      const double* const header = &a_.blocks[block * BLOCK_FIELDS];
      const double reach = BlockReach(interaction().coulomb_cutoff, header[BLOCK_RADIUS]).reach;
      for (std::size_t site = 0; site < sites_.size(); ++site) {
        const double position[3] = {sites_.x[site], sites_.y[site], sites_.z[site]};
        const auto d = scalar::Relative<double>::from(position, header, interaction());
        if (!(d.x * d.x + d.y * d.y + d.z * d.z < reach * reach)) continue;
        const double relative[3] = {d.x, d.y, d.z};
        add(&a_.points[block * 4 * STARPMC_BLOCK_POINTS], position, relative, site);
      }
    }
    sites_.collect(STARPMC_COULOMB_CONSTANT, a_.energies);
  }

 private:
  using D = hn::ScalableTag<double>;
  using V = VecOf<D>;

  const Interaction& interaction() const { return a_.window.interaction; }

  /// @param position of the site; relative: the same, from the block's origin
  void add(const Real* points, const double (&position)[3], const double (&relative)[3],
           std::size_t site) {
    const D d;
    for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
      V sum = hn::Zero(d);
      for (std::size_t k = 0; k < 3; ++k) {
        const V r = displacement(points + k * STARPMC_BLOCK_POINTS + i, position[k], relative[k],
                                 static_cast<int>(k));
        sum = hn::MulAdd(r, r, sum);
      }
      hn::Store(hn::Max(sum, hn::Set(d, STARPMC_MINIMUM_DISTANCE_SQUARED)), d, &squared_[i]);
    }
    const double* const inputs[] = {squared_.data()};
    double* const outputs[] = {values_.data()};
    function_(inputs, STARPMC_BLOCK_POINTS, outputs);
    V energy = hn::Zero(d);
    for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
      const V charge = charges(points + 3 * STARPMC_BLOCK_POINTS + i);
      const auto counts = hn::And(hn::Lt(hn::Load(d, &squared_[i]), hn::Set(d, cutoff_squared_)),
                                  hn::Ne(charge, hn::Zero(d)));
      const V value = hn::IfThenElseZero(counts, hn::Load(d, &values_[i]));
      energy = hn::MulAdd(charge, value, energy);
    }
    sites_.energy[site] += hn::GetLane(hn::SumOfLanes(d, energy));
  }

  HWY_INLINE V displacement(const Real* points, double position, double relative, int k) const {
    const D d;
    if constexpr (kFixed<Real>) {
      const IntegersOf<D> integers;
      const auto site = hn::Set(integers, fixed_coordinate(position, interaction().box[k]));
      return displacements_.scaled(
          hn::Sub(site, hn::LoadU(integers, reinterpret_cast<const std::int32_t*>(points))), k);
    } else {
      return displacements_.periodic().wrap(
          hn::Sub(hn::Set(d, relative), load_lanes<Real>(d, words(points))), k);
    }
  }
  HWY_INLINE V charges(const Real* from) const {
    return load_lanes<PairReal<Real>>(D(), words(from));
  }
  static const WordOf<Real>* words(const Real* from) {
    return reinterpret_cast<const WordOf<Real>*>(from);
  }

  const CoulombGridArguments<Real>& a_;
  ChargedSites sites_;
  BlockEvaluator<double> function_;
  double cutoff_squared_;
  Displacements<D> displacements_;
  HWY_ALIGN std::array<double, STARPMC_BLOCK_POINTS> squared_;
  HWY_ALIGN std::array<double, STARPMC_BLOCK_POINTS> values_;
};

}  // namespace

void UserGridFp64(const CoulombGridArguments<double>& a, const Potential& potential) {
  UserGridTerm(a, potential).run();
}
void UserGridMixed(const CoulombGridArguments<float>& a, const Potential& potential) {
  UserGridTerm(a, potential).run();
}
void UserGridFixed(const CoulombGridArguments<FixedCoordinate>& a, const Potential& potential) {
  UserGridTerm(a, potential).run();
}

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(UserGridFp64);
HWY_EXPORT(UserGridMixed);
HWY_EXPORT(UserGridFixed);

template <>
void user_coulomb_grid(const CoulombGridArguments<double>& a, const Potential& potential) {
  HWY_DYNAMIC_DISPATCH(UserGridFp64)(a, potential);
}
template <>
void user_coulomb_grid(const CoulombGridArguments<float>& a, const Potential& potential) {
  HWY_DYNAMIC_DISPATCH(UserGridMixed)(a, potential);
}
template <>
void user_coulomb_grid(const CoulombGridArguments<FixedCoordinate>& a, const Potential& potential) {
  HWY_DYNAMIC_DISPATCH(UserGridFixed)(a, potential);
}
}  // namespace starpmc::simd
#endif
