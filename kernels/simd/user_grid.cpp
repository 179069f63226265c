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

/// The grid term with the user's Coulomb function, in fp64 in every precision. Sites and points are
/// taken relative to a block's origin; of a site that could meet points by several images, each
/// image counts: the cutoff is at most half the box, so that a point is inside it for one at most.
template <class Real>
class UserGridTerm {
 public:
  UserGridTerm(const CoulombGridArguments<Real>& a, const Potential& potential)
      : a_(a), sites_(a.window), row_(grid_row(potential)) {}

  void run() {
    for (std::size_t block = 0; block * BLOCK_FIELDS < a_.blocks.size(); ++block) {
      const double* const header = &a_.blocks[block * BLOCK_FIELDS];
      find_targets(header);
      if (sites_of_targets_.empty()) continue;
      take_points(header, &a_.points[block * 4 * STARPMC_BLOCK_POINTS]);
      for (std::size_t i = 0; i < sites_of_targets_.size(); i += kGridTargets) add(i);
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
    sites_of_targets_.clear();
    targets_.clear();
    for (std::size_t site = 0; site < sites_.size(); ++site) {
      const double position[3] = {sites_.x[site], sites_.y[site], sites_.z[site]};
      double nearest[3];
      for (int k = 0; k < 3; ++k) {
        nearest[k] = difference(position[k], header[k], interaction().box[k]);
      }
      const double limit = reach.reach * reach.reach;
      for (int image = 0; image < (images == 0 ? 1 : 8); ++image)
        add_image(nearest, image, limit, site);
    }
    const double beyond = 1e6;  // places without a site
    while (targets_.size() % (3 * kGridTargets) != 0) targets_.push_back(beyond);
  }

  /// @param image bit k: the second nearest along axis k
  void add_image(const double (&nearest)[3], int image, double squared_reach, std::size_t site) {
    double r[3];
    double squared = 0;
    for (int k = 0; k < 3; ++k) {
      const double edge = nearest[k] < 0 ? -interaction().box[k] : interaction().box[k];
      r[k] = nearest[k] - ((image >> k & 1) != 0 ? edge : 0);
      squared += r[k] * r[k];
    }
    if (!(squared < squared_reach)) return;
    targets_.insert(targets_.end(), r, r + 3);
    sites_of_targets_.push_back(site);
  }

  void take_points(const double* header, const Real* points) {
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
        const Real value = points[k * STARPMC_BLOCK_POINTS + i];
        double& to = points_[k][i];
        if constexpr (!kFixedPoints<Real>) {
          to = value;
        } else if (k == 3) {
          to = std::bit_cast<float>(value.value);
        } else {
          to = from_origin(value.value, header[k], interaction().box[k]);
        }
      }
    }
  }

  void add(std::size_t first) {
    const double* const charges = points_[3].data();
    const double squared_cutoff = interaction().coulomb_cutoff * interaction().coulomb_cutoff;
    std::array<double, kGridTargets> energies{};
    row_({.source = {points_[0].data(), points_[1].data(), points_[2].data()},
          .count = STARPMC_BLOCK_POINTS,
          .targets = &targets_[3 * first],
          .varying = &charges,
          .squared_cutoffs = &squared_cutoff,
          .totals = energies.data()});
    for (std::size_t k = 0; k < kGridTargets && first + k < sites_of_targets_.size(); ++k) {
      sites_.energy[sites_of_targets_[first + k]] += energies[k];
    }
  }

  const CoulombGridArguments<Real>& a_;
  ChargedSites sites_;
  PairRow<double> row_;
  std::vector<double> targets_;  ///< x, y, z from the block's origin
  std::vector<std::size_t> sites_of_targets_;
  std::array<std::array<double, STARPMC_BLOCK_POINTS>, 4> points_{};
};

}  // namespace

template <class Real>
void user_coulomb_grid(const CoulombGridArguments<Real>& a, const Potential& potential) {
  UserGridTerm<Real>(a, potential).run();
}
template void user_coulomb_grid(const CoulombGridArguments<double>&, const Potential&);
template void user_coulomb_grid(const CoulombGridArguments<float>&, const Potential&);
template void user_coulomb_grid(const CoulombGridArguments<FixedCoordinate>&, const Potential&);

}  // namespace starpmc::simd
