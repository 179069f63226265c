#include "kernels/simd/user_grid.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/block_reach.hpp"
#include "kernels/prepared_potential.hpp"
#include "kernels/scalar/pair_functions.hpp"
#include "kernels/simd/charged_sites.hpp"

namespace starpmc::simd {
namespace {

template <class Real>
constexpr bool kFixedPoints = kPrecisionOf<Real> == Precision::fixed;

/// Sites, or images of them, that meet a block's points.
template <class T>
struct Targets {
  std::vector<T> positions;  ///< x, y, z from the block's origin
  std::vector<std::size_t> sites;

  void clear() {
    positions.clear();
    sites.clear();
  }
  void add(const double (&position)[3], std::size_t site) {
    for (const double x : position) positions.push_back(static_cast<T>(x));
    sites.push_back(site);
  }
  void fill() {
    constexpr T kBeyond = 1e6;  // places without a site
    while (positions.size() % (3 * kGridTargets) != 0) positions.push_back(kBeyond);
  }
};

/// The grid term with the user's Coulomb function. Sites and points are taken relative to a block's
/// origin; of a site that could meet points by several images, each image counts: the cutoff is at
/// most half the box, so that a point is inside it for one at most.
/// @tparam T what pairs are computed in
template <class Real, class T>
class UserGridTerm {
 public:
  UserGridTerm(const CoulombGridArguments<Real>& a, const Potential& potential)
      : a_(a), sites_(a.window), rows_(grid_rows<T>(potential)) {}

  void run() {
    for (std::size_t block = 0; block * BLOCK_FIELDS < a_.blocks.size(); ++block) {
      const double* const header = &a_.blocks[block * BLOCK_FIELDS];
      find_targets(header);
      if (inside_.sites.empty() && cut_.sites.empty()) continue;
      take_points(header, &a_.points[block * 4 * STARPMC_BLOCK_POINTS]);
      add_all(rows_.inside, inside_);
      add_all(rows_.cut, cut_);
    }
    sites_.collect(STARPMC_COULOMB_CONSTANT, a_.energies);
  }

 private:
  const Interaction& interaction() const { return a_.window.interaction; }

  /// As precise as the points are.
  static double difference(double position, double origin, double edge) {
    if constexpr (kFixedPoints<Real>) {
      return from_origin(fixed_coordinate(position, edge), origin, edge);
    } else {
      return scalar::minimum_image(position - origin, edge);
    }
  }
  static double from_origin(std::int32_t coordinate, double origin, double edge) {
    const auto units = static_cast<std::uint32_t>(coordinate) -
                       static_cast<std::uint32_t>(fixed_coordinate(origin, edge));
    return static_cast<std::int32_t>(units) * fixed_unit(edge);
  }

  /// The images of sites that may meet points of a block.
  void find_targets(const double* header) {
    const BlockReach reach(interaction().coulomb_cutoff, header[BLOCK_RADIUS]);
    const int images = reach.meets_images(interaction()) ? 1 : 0;
    inside_.clear();
    cut_.clear();
    for (std::size_t site = 0; site < sites_.size(); ++site) {
      const double position[3] = {sites_.x[site], sites_.y[site], sites_.z[site]};
      double nearest[3];
      for (int k = 0; k < 3; ++k) {
        nearest[k] = difference(position[k], header[k], interaction().box[k]);
      }
      for (int image = 0; image < (images == 0 ? 1 : 8); ++image)
        add_image(nearest, image, reach, site);
    }
    inside_.fill();
    cut_.fill();
  }

  /// @param image bit k: the second nearest along axis k
  void add_image(const double (&nearest)[3], int image, const BlockReach& reach, std::size_t site) {
    double r[3];
    double squared = 0;
    for (int k = 0; k < 3; ++k) {
      const double edge = nearest[k] < 0 ? -interaction().box[k] : interaction().box[k];
      r[k] = nearest[k] - ((image >> k & 1) != 0 ? edge : 0);
      squared += r[k] * r[k];
    }
    if (!(squared < reach.reach * reach.reach)) return;
    const bool inside =
        squared < reach.inside * reach.inside && !(squared < reach.close * reach.close);
    (inside ? inside_ : cut_).add(r, site);
  }

  void take_points(const double* header, const Real* points) {
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
        const Real value = points[k * STARPMC_BLOCK_POINTS + i];
        T& to = points_[k][i];
        if constexpr (!kFixedPoints<Real>) {
          to = static_cast<T>(value);
        } else if (k == 3) {
          to = std::bit_cast<float>(value.value);
        } else {
          to = static_cast<T>(from_origin(value.value, header[k], interaction().box[k]));
        }
      }
    }
  }

  void add_all(PairRow<T>& row, const Targets<T>& targets) {
    for (std::size_t i = 0; i < targets.sites.size(); i += kGridTargets) add(row, targets, i);
  }

  void add(PairRow<T>& row, const Targets<T>& targets, std::size_t first) {
    const T* const charges = points_[3].data();
    const T squared_cutoff =
        static_cast<T>(interaction().coulomb_cutoff * interaction().coulomb_cutoff);
    std::array<double, kGridTargets> energies{};
    row({.source = {points_[0].data(), points_[1].data(), points_[2].data()},
         .count = STARPMC_BLOCK_POINTS,
         .targets = &targets.positions[3 * first],
         .varying = &charges,
         .squared_cutoffs = &squared_cutoff,
         .totals = energies.data()});
    for (std::size_t k = 0; k < kGridTargets && first + k < targets.sites.size(); ++k) {
      sites_.energy[targets.sites[first + k]] += energies[k];
    }
  }

  const CoulombGridArguments<Real>& a_;
  ChargedSites sites_;
  GridRows<T> rows_;
  Targets<T> inside_;
  Targets<T> cut_;
  std::array<std::array<T, STARPMC_BLOCK_POINTS>, 4> points_{};
};

}  // namespace

template <class Real>
void user_coulomb_grid(const CoulombGridArguments<Real>& a, const Potential& potential) {
  if (potential.grid_as_pairs) {
    UserGridTerm<Real, PairReal<Real>>(a, potential).run();
  } else {
    UserGridTerm<Real, double>(a, potential).run();
  }
}
template void user_coulomb_grid(const CoulombGridArguments<double>&, const Potential&);
template void user_coulomb_grid(const CoulombGridArguments<float>&, const Potential&);
template void user_coulomb_grid(const CoulombGridArguments<FixedCoordinate>&, const Potential&);

}  // namespace starpmc::simd
