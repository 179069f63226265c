#include "kernels/receptor_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/all_precisions.hpp"
#include "kernels/compact_blocks.hpp"
#include "kernels/pose_coordinates.hpp"
#include "kernels/stored_value.hpp"

namespace starpmc {
namespace {

/// No box: blocks are as wide as it takes to fill them.
constexpr std::array<double, 3> kNoBox{1e300, 1e300, 1e300};

template <class Real>
constexpr double kUnusedPlace =
    kPrecisionOf<Real> == Precision::fixed ? STARPMC_UNUSED_FIXED_PLACE : STARPMC_UNUSED_PLACE;

}  // namespace

template <class Real>
ReceptorBlocks<Real> make_receptor_blocks(const ReceptorSites& sites,
                                          const PoseInteraction& interaction) {
  const auto compact = make_compact_blocks<double>(sites.x, sites.y, sites.z, {}, {}, kNoBox);
  const auto fields = static_cast<std::size_t>(receptor_fields(interaction));
  const std::size_t block_values = fields * STARPMC_BLOCK_POINTS;
  const std::array<const std::vector<double>*, 6> values{&sites.x,      &sites.y,      &sites.z,
                                                         &sites.charge, &sites.radius, &sites.root};
  ReceptorBlocks<Real> result;
  result.blocks.assign(compact.block_count() * RECEPTOR_BLOCK_FIELDS, 0.0);
  result.sites.assign(compact.block_count() * block_values, Real{});
  for (std::size_t block = 0; block < compact.block_count(); ++block) {
    std::copy_n(&compact.blocks[block * BLOCK_FIELDS], RECEPTOR_BLOCK_SITES,
                &result.blocks[block * RECEPTOR_BLOCK_FIELDS]);
    std::fill_n(&result.sites[block * block_values + RECEPTOR_X], STARPMC_BLOCK_POINTS,
                pose_coordinate<Real>(kUnusedPlace<Real>));
  }
  for (std::size_t site = 0; site < sites.size(); ++site) {
    const std::size_t slot = compact.slot_of_point[site];
    const std::size_t block = slot / STARPMC_BLOCK_POINTS;
    double* const header = &result.blocks[block * RECEPTOR_BLOCK_FIELDS];
    Real* const place = &result.sites[block * block_values + slot % STARPMC_BLOCK_POINTS];
    for (std::size_t field = 0; field < fields; ++field) {
      const double value = (*values[field])[site];
      place[field * STARPMC_BLOCK_POINTS] =
          field < 3 ? pose_coordinate<Real>(value - header[field]) : stored_value<Real>(value);
    }
    header[RECEPTOR_BLOCK_SITES] += 1;
  }
  return result;
}

STARPMC_FOR_ALL_PRECISIONS(make_receptor_blocks)

void write_pose(std::span<const double> x, std::span<const double> y, std::span<const double> z,
                std::span<double> pose) {
  const std::size_t sites = x.size();
  const std::array<std::span<const double>, 3> axes{x, y, z};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [low, high] = std::ranges::minmax_element(axes[k]);
    pose[k] = (*low + *high) / 2;
    std::ranges::copy(axes[k], &pose[POSE_SPHERE + k * sites]);
  }
  double radius_squared = 0;
  for (std::size_t i = 0; i < sites; ++i) {
    const double dx = x[i] - pose[0];
    const double dy = y[i] - pose[1];
    const double dz = z[i] - pose[2];
    radius_squared = std::max(radius_squared, dx * dx + dy * dy + dz * dz);
  }
  pose[3] = std::sqrt(radius_squared);
}

}  // namespace starpmc
