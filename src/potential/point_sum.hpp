#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/exact_blocks.hpp"
#include "potential/radial_coulomb.hpp"
#include "system/geometry.hpp"

namespace starpmc {

/// Potentials of point charges at a few positions at a time, distances by the nearest image. Each
/// is summed over the points in their order, so it has the same bits for any length of a vector.
/// For one thread.
class PointSum {
 public:
  static constexpr std::size_t kPositions = 16;  ///< at a time, at most
  using Potentials = std::array<double, kPositions>;
  /// Coordinates along an axis of a group's points and of the positions.
  struct Axis {
    const double* points;
    const double* positions;
  };
  using Axes = std::array<Axis, 3>;

  /// @param ball_radius A, of balls of charge whose potential takes the place of the 1/r part A/r;
  /// 0:
  ///        nothing does
  PointSum(const Interaction& interaction, const Potential* functions,
           std::span<const Vector3> points, double ball_radius = 0);

  /// @param strengths [component][point]
  /// @param bare      of each position whether A/r (not by the nearest image) is left out there
  /// @param sums      of each component; of as many positions as there are
  void operator()(std::span<const Vector3> positions, std::span<const bool> bare,
                  std::span<const double> strengths, std::span<Potentials> sums);

  double pole() const { return coulomb_.pole(); }
  std::size_t points() const { return count_; }

 private:
  static constexpr std::size_t kGroup = 32;  // points: their rows stay in a core's first cache
  struct Group {
    std::size_t first = 0;
    std::size_t count = 0;
    Vector3 centre;
    double radius = 0;
  };
  using Rows = std::array<double, kGroup * kPositions>;  // [point][position]

  void place(std::span<const Vector3> positions);
  /// Of a point of the group and one of the positions, by any image; rounded down.
  double least_distance(const Group& group) const;
  Axes axes(const Group& group) const;
  void find_squared_distances(const Group& group);
  void find_inverses(const Group& group);
  void leave_out_pole(const Group& group, std::span<const bool> bare);

  std::size_t count_;
  ExactBox box_;
  double cutoff_;
  RadialCoulomb coulomb_;
  double ball_radius_;
  std::array<std::vector<double>, 3> points_;  ///< x, y, z
  std::vector<Group> groups_;
  std::array<Potentials, 3> at_;
  bool on_a_line_ = false;  ///< along z
  Rows squared_;
  Rows inverses_;
  Rows values_;
};

}  // namespace starpmc
