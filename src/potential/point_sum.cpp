#include "potential/point_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/wide_vectors.hpp"

namespace starpmc {
namespace {

/// By the nearest image.
STARPMC_WIDE_VECTORS void squared_distances(std::size_t count, const PointSum::Axes& axes,
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

/// The same of positions that have their x and y in common.
STARPMC_WIDE_VECTORS void squared_distances_on_a_line(std::size_t count, const PointSum::Axes& axes,
                                                      const ExactBox& box, double* squared) {
  constexpr std::size_t kPositions = PointSum::kPositions;
  for (std::size_t k = 0; k < count; ++k) {
    double d[2];
    for (int axis = 0; axis < 2; ++axis) {
      d[axis] = scalar::exact_image(axes[axis].positions[0] - axes[axis].points[k],
                                    box.length[axis], box.inverse[axis]);
    }
    for (std::size_t n = 0; n < kPositions; ++n) {
      const double z = scalar::exact_image(axes[2].positions[n] - axes[2].points[k], box.length[2],
                                           box.inverse[2]);
      squared[k * kPositions + n] = scalar::exact_distance_squared(d[0], d[1], z);
    }
  }
}

/// Not by the nearest image.
STARPMC_WIDE_VECTORS void plain_squared_distances(std::size_t count, const PointSum::Axes& axes,
                                                  double* squared) {
  constexpr std::size_t kPositions = PointSum::kPositions;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t n = 0; n < kPositions; ++n) {
      squared[k * kPositions + n] = scalar::exact_distance_squared(
          axes[0].positions[n] - axes[0].points[k], axes[1].positions[n] - axes[1].points[k],
          axes[2].positions[n] - axes[2].points[k]);
    }
  }
}

/// values -= factor / r
STARPMC_WIDE_VECTORS void subtract_inverse(std::size_t count, const double* inverses,
                                           const double* factor, double* values) {
  constexpr std::size_t kPositions = PointSum::kPositions;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t n = 0; n < kPositions; ++n) {
      values[k * kPositions + n] -= factor[n] * inverses[k * kPositions + n];
    }
  }
}

/// values += factor (phi - 1/r) where r < R, phi the potential of a ball of radius R with a density
/// of (1 - (r/R)^2)^2: (35 - 35 s^2 + 21 s^4 - 5 s^6)/(16 R), s = r/R, with the value and the first
/// three derivatives of 1/r at R.
STARPMC_WIDE_VECTORS void spread(std::size_t count, const double* squared, const double* inverses,
                                 double radius, double factor, double* values) {
  const double inverse_square = 1 / (radius * radius);
  const double scale = factor / (16 * radius);
  for (std::size_t i = 0; i < count; ++i) {
    const double s2 = squared[i] * inverse_square;
    const double change = scale * (35 - s2 * (35 - s2 * (21 - s2 * 5))) - factor * inverses[i];
    values[i] += s2 < 1 ? change : 0;
  }
}

STARPMC_WIDE_VECTORS void add_products(std::size_t count, const double* strengths,
                                       const double* values, double* sums) {
  // Vectors that are written down: loops over arrays get their sums from memory at each point.
  using Wide [[gnu::vector_size(8 * sizeof(double))]] = double;
  constexpr std::size_t kWide = sizeof(Wide) / sizeof(double);
  constexpr std::size_t kSums = PointSum::kPositions / kWide;
  Wide sum[kSums];
  std::memcpy(sum, sums, sizeof sum);
  for (std::size_t k = 0; k < count; ++k) {
    Wide row[kSums];
    std::memcpy(row, &values[k * PointSum::kPositions], sizeof row);
    for (std::size_t n = 0; n < kSums; ++n) sum[n] += strengths[k] * row[n];
  }
  std::memcpy(sums, sum, sizeof sum);
}

/// Of the positions from a point.
STARPMC_WIDE_VECTORS double least_squared_distance(const PointSum::Axes& axes,
                                                   const ExactBox& box) {
  PointSum::Potentials squared;
  squared_distances(1, axes, box, squared.data());
  for (std::size_t half = PointSum::kPositions / 2; half > 0; half /= 2) {
    for (std::size_t n = 0; n < half; ++n) squared[n] = std::min(squared[n], squared[n + half]);
  }
  return squared[0];
}

}  // namespace

PointSum::PointSum(const Interaction& interaction, const Potential* functions,
                   std::span<const Vector3> points, double ball_radius)
    : count_(points.size()),
      box_(interaction),
      cutoff_(interaction.coulomb_cutoff),
      coulomb_(interaction, functions),
      ball_radius_(pole() == 0 ? 0 : ball_radius) {
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
  on_a_line_ = std::ranges::all_of(positions, [&](const Vector3& position) {
    return position.x == positions[0].x && position.y == positions[0].y;
  });
}

double PointSum::least_distance(const Group& group) const {
  constexpr double kRounding = 1e-6;
  const Axes from_centre{Axis{&group.centre.x, at_[0].data()}, Axis{&group.centre.y, at_[1].data()},
                         Axis{&group.centre.z, at_[2].data()}};
  return std::sqrt(least_squared_distance(from_centre, box_)) - group.radius - kRounding;
}

PointSum::Axes PointSum::axes(const Group& group) const {
  return {Axis{&points_[0][group.first], at_[0].data()},
          Axis{&points_[1][group.first], at_[1].data()},
          Axis{&points_[2][group.first], at_[2].data()}};
}

void PointSum::find_squared_distances(const Group& group) {
  const auto find = on_a_line_ ? squared_distances_on_a_line : squared_distances;
  find(group.count, axes(group), box_, squared_.data());
}

void PointSum::find_inverses(const Group& group) {
  const std::size_t values = group.count * kPositions;
  inverse_roots(std::span(squared_).first(values), std::span(inverses_).first(values));
}

void PointSum::leave_out_pole(const Group& group, std::span<const bool> bare) {
  Potentials factor{};
  for (std::size_t n = 0; n < bare.size(); ++n) {
    if (bare[n]) factor[n] = pole() * STARPMC_COULOMB_CONSTANT;
  }
  plain_squared_distances(group.count, axes(group), squared_.data());
  find_inverses(group);
  subtract_inverse(group.count, inverses_.data(), factor.data(), values_.data());
}

void PointSum::operator()(std::span<const Vector3> positions, std::span<const bool> bare,
                          std::span<const double> strengths, std::span<Potentials> sums) {
  place(positions);
  const bool any_bare = std::ranges::find(bare, true) != bare.end();
  std::ranges::fill(sums, Potentials{});
  for (const Group& group : groups_) {
    const double least = least_distance(group);
    if (!any_bare && least > cutoff_) continue;
    const bool in_balls = least < ball_radius_;
    find_squared_distances(group);
    if (coulomb_.reads_inverses() || in_balls) find_inverses(group);
    const std::size_t values = group.count * kPositions;
    coulomb_.values(std::span(squared_).first(values), std::span(inverses_).first(values),
                    std::span(values_).first(values));
    if (in_balls) {
      spread(values, squared_.data(), inverses_.data(), ball_radius_,
             pole() * STARPMC_COULOMB_CONSTANT, values_.data());
    }
    if (any_bare) leave_out_pole(group, bare);
    for (std::size_t c = 0; c < sums.size(); ++c) {
      add_products(group.count, &strengths[c * count_ + group.first], values_.data(),
                   sums[c].data());
    }
  }
}

}  // namespace starpmc
