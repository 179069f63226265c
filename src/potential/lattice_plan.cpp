#include "potential/lattice_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

/// Nodes beyond the region that a level serves, on each side: what the spline does at the end of
/// the lattice falls by 0.27 a node.
constexpr int kGuardNodes = 4;
/// A ball smaller than that is as hard to follow as a point.
constexpr double kLeastSpacingsOfBall = 2;

LatticeLevel level_of(const double half_extent[3], double spacing) {
  LatticeLevel level{};
  level.inverse_spacing = 1 / spacing;
  for (int k = 0; k < 3; ++k) {
    // The centre lies on a node.
    const int each_side = static_cast<int>(std::ceil(half_extent[k] / spacing)) + kGuardNodes;
    level.nodes[k] = 2 * each_side + 1;
    level.origin[k] = -each_side * spacing;
  }
  return level;
}

double coordinate(const Vector3& r, int axis) { return axis == 0 ? r.x : axis == 1 ? r.y : r.z; }

double squared_distance(const Vector3& a, const Vector3& b) { return dot(a - b, a - b); }

}  // namespace

LatticePlan::LatticePlan(const LatticeChoice& choice, std::span<const Vector3> nuclei,
                         const Box& box, int components, const std::string& subject)
    : choice_(choice), components_(components) {
  const double edges[3] = {box.lengths.x, box.lengths.y, box.lengths.z};
  double half_solute[3];
  for (int k = 0; k < 3; ++k) {
    const auto along_axis = [k](const Vector3& r) { return coordinate(r, k); };
    const auto [first, last] = std::ranges::minmax(nuclei, {}, along_axis);
    const double least = along_axis(first);
    const double most = along_axis(last);
    lattice_.centre[k] = (least + most) / 2;
    lattice_.box[k] = edges[k];
    lattice_.inverse_box[k] = 1 / edges[k];
    half_solute[k] = (most - least) / 2;
  }
  const int grain = choice.component_grain;
  lattice_.components = (components + grain - 1) / grain * grain;
  std::int64_t first = 0;
  const auto add = [&](const double half_extent[3], double spacing) {
    LatticeLevel level = level_of(half_extent, spacing);
    level.first = static_cast<int>(first);
    std::int64_t values = lattice_.components;
    for (const int nodes : level.nodes) values *= nodes;
    first += values;
    if (first > std::numeric_limits<int>::max()) {
      throw RunError(
          fmt::format("the table of {} would have more than 2^31 values ({} components, "
                      "box {} x {} x {} A): a smaller box or fewer components",
                      subject, components, edges[0], edges[1], edges[2]));
    }
    lattice_.level[lattice_.levels++] = level;
  };
  double half_extent[3];
  for (const LatticeLevelChoice& level : choice.levels) {
    for (int k = 0; k < 3; ++k) {
      half_extent[k] = std::min(half_solute[k] + level.margin_angstrom, edges[k] / 2);
    }
    add(half_extent, level.spacing_angstrom);
  }
  for (int k = 0; k < 3; ++k) half_extent[k] = edges[k] / 2;
  add(half_extent, choice.last_spacing_angstrom);
  find_near_nodes(choice.near_distance_angstrom, nuclei);
}

int LatticePlan::node_count(int level) const { return lattice_size(lattice_.level[level], 1); }

Vector3 LatticePlan::position(int level, int node) const {
  const LatticeLevel& l = lattice_.level[level];
  const int z = node % l.nodes[2];
  const int y = node / l.nodes[2] % l.nodes[1];
  const int x = node / l.nodes[2] / l.nodes[1];
  return {lattice_.centre[0] + (l.origin[0] + x / l.inverse_spacing),
          lattice_.centre[1] + (l.origin[1] + y / l.inverse_spacing),
          lattice_.centre[2] + (l.origin[2] + z / l.inverse_spacing)};
}

double LatticePlan::ball_radius(int level, std::span<const Vector3> points) const {
  if (level == 0) return 0;
  const LatticeLevel& finer = lattice_.level[level - 1];
  double radius = choice_.levels[static_cast<std::size_t>(level - 1)].margin_angstrom;
  for (int k = 0; k < 3; ++k) {
    const int nodes_served = finer.nodes[k] / 2 - kGuardNodes;
    const double served = nodes_served / finer.inverse_spacing;
    if (served >= lattice_.box[k] / 2) continue;  // all there is
    for (const Vector3& point : points) {
      radius = std::min(radius, served - std::abs(coordinate(point, k) - lattice_.centre[k]));
    }
  }
  return std::max(radius, kLeastSpacingsOfBall / lattice_.level[level].inverse_spacing);
}

void LatticePlan::find_near_nodes(double near_distance, std::span<const Vector3> nuclei) {
  for (int node = 0; node < node_count(0); ++node) {
    const Vector3 r = position(0, node);
    const bool near = std::ranges::any_of(nuclei, [&](const Vector3& nucleus) {
      return squared_distance(r, nucleus) < near_distance * near_distance;
    });
    if (!near) continue;
    near_nodes_.push_back(node);
    near_positions_.push_back(r);
  }
}

LatticeChoice LatticeChoice::for_potential(double coulomb_cutoff_angstrom) {
  constexpr double kBeyondCutoff = 1;
  constexpr double kSpacing = 0.25;
  return {{{3.5, kSpacing}, {coulomb_cutoff_angstrom + kBeyondCutoff, 0.2}}, 1.0, 3.5};
}
LatticeChoice LatticeChoice::for_response() {
  return {{{3.4, 0.5}, {5.5, 0.9}}, 1.6, 3.5, STARPMC_COMPONENT_GRAIN};
}

}  // namespace starpmc
