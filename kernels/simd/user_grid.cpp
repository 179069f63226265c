#include "kernels/simd/user_grid.hpp"

#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/user_grid.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/prepared_potential.hpp"
#include "kernels/scalar/pair_functions.hpp"
#include "kernels/simd/charged_sites.hpp"
#include "kernels/simd/extent-inl.hpp"
#include "kernels/simd/sites_in_reach-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// The grid term with the user's Coulomb function: the sibling of GridTerm. To MoleculePairs every
/// site is a molecule of its own, and they all meet that of the block's points. Sites and points
/// are taken relative to a block's origin in every precision.
/// @tparam T what pairs are computed in
template <class Real, class T>
class UserGridTerm {
 public:
  UserGridTerm(const CoulombGridArguments<Real>& a, const Potential& potential)
      : a_(a),
        sites_(a.window),
        nearby_(sites_.size()),
        function_(potential, PairsWith::grid),
        pole_(potential.coulomb_pole) {}

  void run() {
    std::fill_n(a_.energies.begin(), a_.window.candidates(), 0.0);
    for_each_block(
        a_.blocks, sites_, nearby_, interaction(),
        [this](std::size_t block) HWY_ATTR { add_block(block); },
        [this] { sites_.move_to(STARPMC_COULOMB_CONSTANT, a_.energies); });
  }

 private:
  using D = hn::ScalableTag<T>;
  static constexpr bool kFixedPoints = std::is_same_v<Real, FixedCoordinate>;

  const Interaction& interaction() const { return a_.window.interaction; }

  void add_block(std::size_t block) {
    const double* const header = &a_.blocks[block * BLOCK_FIELDS];
    in_reach_.classify(D(), nearby_, header, interaction(), true);
    if (in_reach_.inside.count + in_reach_.cut.count + in_reach_.close.count == 0) return;
    take_points(header, &a_.points[block * STARPMC_BLOCK_VALUES]);
    // one list, so that one vector only is not full
    RelativeSites<D>& all = in_reach_.inside;
    const std::size_t inside = all.count / kMoleculeGrain<T> * kMoleculeGrain<T>;
    all.append(in_reach_.cut);
    all.append(in_reach_.close);
    add(all, 0, inside, true);
    add(all, inside, all.count, false);
    if (header[BLOCK_EXTENT] > 0) add_extents();
  }

  void add_extents() {
    const RelativeSites<D>& sites = in_reach_.close;
    for (std::size_t i = 0; i < sites.count; ++i) {
      const double extent =
          extent_energy<T>({sites.x[i], sites.y[i], sites.z[i]}, points_, interaction());
      sites_.energy[nearby_.site[static_cast<std::size_t>(sites.nearby[i])]] += pole_ * extent;
    }
  }

  /// Points as the rows take them.
  void take_points(const double* header, const Real* points) {
    for (std::size_t k = 0; k < 5; ++k) {
      const Real* const from = points + k * STARPMC_BLOCK_POINTS;
      if constexpr (std::is_same_v<Real, T>) {
        points_[k] = from;
      } else {
        for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
          converted_[k][i] = converted(from[i], static_cast<int>(k), header);
        }
        points_[k] = converted_[k].data();
      }
    }
  }

  T converted(Real value, int k, const double* header) const {
    if constexpr (!kFixedPoints) {
      return static_cast<T>(value);
    } else if (k >= 3) {
      return std::bit_cast<float>(value.value);
    } else {
      const double edge = interaction().box[k];
      const auto units = static_cast<std::uint32_t>(value.value) -
                         static_cast<std::uint32_t>(fixed_coordinate(header[k], edge));
      // The origin itself is no multiple of a unit.
      const double rest = fixed_coordinate(header[k], edge) * fixed_unit(edge) - header[k];
      return static_cast<T>(static_cast<std::int32_t>(units) * fixed_unit(edge) +
                            scalar::minimum_image(rest, edge));
    }
  }

  /// Sites [first, last).
  void add(const RelativeSites<D>& sites, std::size_t first, std::size_t last, bool inside) {
    if (first == last) return;
    const std::size_t count = whole_grains<T>(last - first);
    const T squared_cutoff =
        static_cast<T>(interaction().coulomb_cutoff * interaction().coulomb_cutoff);
    energies_.resize(std::max(energies_.size(), count));
    function_({.target_count = STARPMC_BLOCK_POINTS,
               .source_count = 1,
               .coefficients = points_[3],
               .count = count,
               .stride = sites.stride,
               .sources = sites.x + first,
               .targets = points_[0],
               .inside = inside,
               .squared_cutoffs = {squared_cutoff, squared_cutoff},
               .energies = {energies_.data()}});
    for (std::size_t i = first; i < last; ++i) {
      const auto nearby = static_cast<std::size_t>(sites.nearby[i]);
      sites_.energy[nearby_.site[nearby]] += static_cast<double>(energies_[i - first]);
    }
  }

  const CoulombGridArguments<Real>& a_;
  ChargedSites sites_;
  NearbySites nearby_;
  SitesInReach<D> in_reach_;
  MoleculePairs<T> function_;
  std::vector<T> energies_;
  double pole_;
  std::array<const T*, 5> points_{};  ///< x, y, z, charge, 1/R^2
  std::array<std::array<T, STARPMC_BLOCK_POINTS>, 5> converted_{};
};

template <class Real>
void user_grid(const CoulombGridArguments<Real>& a, const Potential& potential) {
  if constexpr (!std::is_same_v<Real, double>) {
    if (potential.grid_as_pairs) {
      UserGridTerm<Real, float>(a, potential).run();
      return;
    }
  }
  UserGridTerm<Real, double>(a, potential).run();
}

}  // namespace

void UserGridFp64(const CoulombGridArguments<double>& a, const Potential& p) { user_grid(a, p); }
void UserGridMixed(const CoulombGridArguments<float>& a, const Potential& p) { user_grid(a, p); }
void UserGridFixed(const CoulombGridArguments<FixedCoordinate>& a, const Potential& p) {
  user_grid(a, p);
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
