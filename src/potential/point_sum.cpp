#include "potential/point_sum.hpp"

#include <algorithm>
#include <cmath>

#include "base/wide_vectors.hpp"

namespace starpmc {
namespace {

constexpr double kWhereErfIsOne = 6;

struct Axis {
  const double* points;     ///< of a group
  const double* positions;  ///< PointSum::kPositions
};

/// By the nearest image.
STARPMC_WIDE_VECTORS void squared_distances(std::size_t count, const std::array<Axis, 3>& axes,
                                            const ExactBox& box, double* squared) {
  constexpr std::size_t kPositions = PointSum::kPositions;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t n = 0; n < kPositions; ++n) {
      double d[3];
      for (int axis = 0; axis < 3; ++axis) {
        d[axis] = scalar::exact_image(axes[axis].positions[n] - axes[axis].points[k],
                                      box.length[axis], box.inverse[axis]);
      }
      squared[k * kPositions + n] = scalar::exact_distance_squared(d[0], d[1], d[2]);
    }
  }
}

/// values -= factor / r, r as it is.
STARPMC_WIDE_VECTORS void subtract_inverse(std::size_t count, const std::array<Axis, 3>& axes,
                                           const double* factor, double* values) {
  constexpr std::size_t kPositions = PointSum::kPositions;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t n = 0; n < kPositions; ++n) {
      const double squared = scalar::exact_distance_squared(
          axes[0].positions[n] - axes[0].points[k], axes[1].positions[n] - axes[1].points[k],
          axes[2].positions[n] - axes[2].points[k]);
      values[k * kPositions + n] -= factor[n] / std::sqrt(squared);
    }
  }
}

/// values += factor (smoothed - 1/r)
STARPMC_WIDE_VECTORS void replace_inverse(std::size_t count, const double* squared,
                                          const double* smoothed, double factor, double* values) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] += factor * (smoothed[i] - 1 / std::sqrt(squared[i]));
  }
}

STARPMC_WIDE_VECTORS void add_products(std::size_t count, const double* strengths,
                                       const double* values, double* sums) {
  constexpr std::size_t kPositions = PointSum::kPositions;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t n = 0; n < kPositions; ++n) {
      sums[n] += strengths[k] * values[k * kPositions + n];
    }
  }
}

}  // namespace

PointSum::PointSum(const Interaction& interaction, const Potential* functions,
                   std::span<const Vector3> points, double gaussian_per_angstrom)
    : count_(points.size()),
      box_(interaction),
      cutoff_(interaction.coulomb_cutoff),
      coulomb_(interaction, functions) {
  if (gaussian_per_angstrom > 0 && pole() != 0) {
    const double reach = kWhereErfIsOne / gaussian_per_angstrom;
    gaussian_reach_squared_ = reach * reach;
    gaussian_.emplace(gaussian_per_angstrom);
  }
  for (const Vector3& point : points) {
    points_[0].push_back(point.x);
    points_[1].push_back(point.y);
    points_[2].push_back(point.z);
  }
  for (std::size_t first = 0; first < count_; first += kGroup) {
    Group group{first, std::min(kGroup, count_ - first), {}, 0};
    const auto its_points = points.subspan(first, group.count);
    for (const Vector3& point : its_points) group.centre = group.centre + point;
    group.centre = 1 / static_cast<double>(group.count) * group.centre;
    for (const Vector3& point : its_points) {
      group.radius = std::max(group.radius, norm(point - group.centre));
    }
    groups_.push_back(group);
  }
}

void PointSum::place(std::span<const Vector3> positions) {
  for (std::size_t n = 0; n < kPositions; ++n) {
    const Vector3& position = positions[std::min(n, positions.size() - 1)];
    at_[0][n] = position.x;
    at_[1][n] = position.y;
    at_[2][n] = position.z;
  }
}

/// Of all the positions, by any image: all values are 0.
bool PointSum::beyond_cutoff(const Group& group, std::span<const Vector3> positions) const {
  constexpr double kRounding = 1e-6;
  const double least = cutoff_ + group.radius + kRounding;
  return std::ranges::all_of(positions, [&](const Vector3& position) {
    const Vector3 d = position - group.centre;
    return scalar::exact_distance_squared(
               scalar::exact_image(d.x, box_.length[0], box_.inverse[0]),
               scalar::exact_image(d.y, box_.length[1], box_.inverse[1]),
               scalar::exact_image(d.z, box_.length[2], box_.inverse[2])) > least * least;
  });
}

void PointSum::leave_out_pole(const Group& group, std::span<const bool> bare) {
  Potentials factor{};
  for (std::size_t n = 0; n < bare.size(); ++n) {
    if (bare[n]) factor[n] = pole() * STARPMC_COULOMB_CONSTANT;
  }
  const std::array<Axis, 3> axes{Axis{&points_[0][group.first], at_[0].data()},
                                 Axis{&points_[1][group.first], at_[1].data()},
                                 Axis{&points_[2][group.first], at_[2].data()}};
  subtract_inverse(group.count, axes, factor.data(), values_.data());
}

/// Wide charges for points, where that makes a difference.
void PointSum::smooth(std::size_t values) {
  const std::span<const double> squared = std::span(squared_).first(values);
  if (std::ranges::min(squared) > gaussian_reach_squared_) return;
  gaussian_->values(squared, std::span(smoothed_).first(values));
  replace_inverse(values, squared_.data(), smoothed_.data(), pole() * STARPMC_COULOMB_CONSTANT,
                  values_.data());
}

void PointSum::operator()(std::span<const Vector3> positions, std::span<const bool> bare,
                          std::span<const double> strengths, std::span<Potentials> sums) {
  place(positions);
  const bool any_bare = std::ranges::find(bare, true) != bare.end();
  std::ranges::fill(sums, Potentials{});
  for (const Group& group : groups_) {
    if (!any_bare && beyond_cutoff(group, positions)) continue;
    const std::size_t values = group.count * kPositions;
    const std::array<Axis, 3> axes{Axis{&points_[0][group.first], at_[0].data()},
                                   Axis{&points_[1][group.first], at_[1].data()},
                                   Axis{&points_[2][group.first], at_[2].data()}};
    squared_distances(group.count, axes, box_, squared_.data());
    coulomb_.values(std::span(squared_).first(values), std::span(values_).first(values));
    if (any_bare) leave_out_pole(group, bare);
    if (gaussian_) smooth(values);
    for (std::size_t c = 0; c < sums.size(); ++c) {
      add_products(group.count, &strengths[c * count_ + group.first], values_.data(),
                   sums[c].data());
    }
  }
}

}  // namespace starpmc
