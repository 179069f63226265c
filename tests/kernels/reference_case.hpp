#pragma once

#include <array>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/operations.hpp"

/// Molecules in the field of lattices with made-up coefficients, and that field as plain sums over
/// all splines of a lattice.
namespace starpmc::test {

struct FieldSite {
  double displacement[3];
  double charge;
};

/// A window whose candidates are molecules of a type each.
class FieldWindow {
 public:
  struct Candidate {
    std::size_t type;
    std::array<double, 3> centre;
  };

  FieldWindow(std::vector<std::vector<FieldSite>> types, std::vector<Candidate> candidates,
              const double box[3])
      : types_(std::move(types)), candidates_(std::move(candidates)) {
    const int count = static_cast<int>(candidates_.size());
    int sites = 0;
    for (const auto& type : types_) sites = std::max(sites, static_cast<int>(type.size()));
    shape_ = {static_cast<int>(types_.size()), sites, 1, count, count, 0, {}};
    layout_ = {count, count + 3, sites, count};
    interaction_ = {{box[0], box[1], box[2]}, 9, 9};
    reals_.assign(size(topology_reals_size(shape_)), 0.0);
    integers_.assign(size(topology_integers_size(shape_)), 0);
    plan_.assign(size(plan_size(layout_)), 0);
    entries_.assign(size(entries_size(layout_)), 0.0);
    plan_[PLAN_STEPS] = plan_[PLAN_CANDIDATES] = count;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const int type = static_cast<int>(t);
      integers_[size(topology_site_count(shape_, type))] = static_cast<int>(types_[t].size());
      for (std::size_t s = 0; s < types_[t].size(); ++s) {
        reals_[size(topology_site(shape_, type, static_cast<int>(s)) + 3)] = types_[t][s].charge;
      }
    }
    for (int m = 0; m < count; ++m) place(m);
  }

  Window window() const {
    return {layout_, interaction_, {shape_, reals_, integers_}, plan_, entries_};
  }
  const std::vector<double>& reals() const { return reals_; }
  const std::vector<int>& integers() const { return integers_; }
  const std::vector<int>& plan() const { return plan_; }
  const std::vector<double>& entries() const { return entries_; }
  std::size_t count() const { return candidates_.size(); }
  const std::vector<FieldSite>& sites(std::size_t m) const { return types_[candidates_[m].type]; }
  double coordinate(std::size_t m, const FieldSite& site, int axis) const {
    return candidates_[m].centre[size(axis)] + site.displacement[axis];
  }

 private:
  static std::size_t size(int value) { return static_cast<std::size_t>(value); }
  void place(int m) {
    const Candidate& candidate = candidates_[size(m)];
    integers_[size(m)] = static_cast<int>(candidate.type);
    plan_[size(plan_candidate_step(layout_) + m)] = m;
    plan_[size(plan_step_molecule(layout_) + m)] = m;
    const auto put = [&](int field, double value) {
      entries_[size(field * entry_capacity(layout_) + m)] = value;
    };
    for (int k = 0; k < 3; ++k) {
      put(POSE_X + k, candidate.centre[size(k)]);
      int site = 0;
      for (const FieldSite& s : types_[candidate.type]) {
        put(POSE_FIELDS + 3 * site++ + k, s.displacement[k]);
      }
    }
  }

  std::vector<std::vector<FieldSite>> types_;
  std::vector<Candidate> candidates_;
  Interaction interaction_{};
  TopologyShape shape_{};
  WindowLayout layout_{};
  std::vector<double> reals_;
  std::vector<int> integers_;
  std::vector<int> plan_;
  std::vector<double> entries_;
};

/// The cubic B-spline of unit spacing about 0, and its slope.
inline double b_spline(double x) {
  const double a = std::abs(x);
  if (a >= 2) return 0;
  if (a >= 1) return std::pow(2 - a, 3) / 6;
  return 2.0 / 3 - a * a + a * a * a / 2;
}
inline double b_spline_slope(double x) {
  const double a = std::abs(x);
  if (a >= 2) return 0;
  const double of_positive = a >= 1 ? -std::pow(2 - a, 2) / 2 : a * (1.5 * a - 2);
  return x < 0 ? -of_positive : of_positive;
}

/// Sums over all nodes of the level that serves.
class NaiveLattice {
 public:
  NaiveLattice(const PotentialLattice& lattice, const std::vector<float>& values)
      : lattice_(lattice), values_(values) {}

  int level_of(const double position[3]) const {
    int level = 0;
    while (level + 1 < lattice_.levels && !serves(lattice_.level[level], position)) ++level;
    return level;
  }
  double value(const double position[3], int component) const {
    return sum(position, component, -1);
  }
  double slope(const double position[3], int component, int axis) const {
    return sum(position, component, axis) * level(position).inverse_spacing;
  }

 private:
  const LatticeLevel& level(const double position[3]) const {
    return lattice_.level[level_of(position)];
  }
  double coordinate(const LatticeLevel& level, const double position[3], int k) const {
    const double d = std::remainder(position[k] - lattice_.centre[k], lattice_.box[k]);
    return (d - level.origin[k]) * level.inverse_spacing;
  }
  /// From the second node to the last but one.
  bool serves(const LatticeLevel& level, const double position[3]) const {
    for (int k = 0; k < 3; ++k) {
      const double u = coordinate(level, position, k);
      if (u < 1 || u >= level.nodes[k] - 2) return false;
    }
    return true;
  }
  double sum(const double position[3], int component, int derived) const {
    const LatticeLevel& l = level(position);
    const auto weight = [&](int axis, int node) {
      const double x = coordinate(l, position, axis) - node;
      return axis == derived ? b_spline_slope(x) : b_spline(x);
    };
    double total = 0;
    for (int i = 0; i < l.nodes[0]; ++i) {
      if (weight(0, i) == 0) continue;
      for (int j = 0; j < l.nodes[1]; ++j) {
        for (int k = 0; k < l.nodes[2]; ++k) {
          const int node = (i * l.nodes[1] + j) * l.nodes[2] + k;
          const auto place = static_cast<std::size_t>(l.first + node * lattice_.components);
          total += weight(0, i) * weight(1, j) * weight(2, k) *
                   values_[place + static_cast<std::size_t>(component)];
        }
      }
    }
    return total;
  }

  const PotentialLattice& lattice_;
  const std::vector<float>& values_;
};

struct MadeLattice {
  PotentialLattice lattice{};
  std::vector<float> values;

  /// @param levels half-extent and spacing, finest first; the last must hold the cell
  /// @param largest coefficient
  MadeLattice(const double box[3], const std::vector<std::array<double, 2>>& levels, int components,
              float largest, unsigned seed) {
    for (int k = 0; k < 3; ++k) {
      lattice.centre[k] = 3.3 + k;
      lattice.box[k] = box[k];
      lattice.inverse_box[k] = 1 / box[k];
    }
    lattice.components = components;
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-largest, largest);
    for (const auto& [half, spacing] : levels) {
      LatticeLevel& level = lattice.level[lattice.levels++];
      level.inverse_spacing = 1 / spacing;
      level.first = static_cast<int>(values.size());
      for (int k = 0; k < 3; ++k) {
        const int each_side = static_cast<int>(std::ceil(half / spacing)) + 2 + k;
        level.nodes[k] = 2 * each_side + 1;
        level.origin[k] = -each_side * spacing;
      }
      for (int i = lattice_size(level, components); i > 0; --i)
        values.push_back(uniform(generator));
    }
  }
};

/// One site; a water with an uncharged site; and a molecule too long for one group of sites, with
/// more charges than a group takes.
inline std::vector<std::vector<FieldSite>> field_types() {
  std::vector<std::vector<FieldSite>> types{{{{0, 0, 0}, 0.3}},
                                            {{{0, -0.07, 0}, 0},
                                             {{0.76, 0.52, 0}, 0.52},
                                             {{-0.76, 0.52, 0}, 0.52},
                                             {{0, 0.08, 0}, -1.04}},
                                            {}};
  for (int i = 0; i < 23; ++i) {
    types.back().push_back(
        {{0.41 * i - 4, std::sin(i), std::cos(2.0 * i)}, i % 5 == 3 ? 0 : 0.1 * (i % 3) - 0.15});
  }
  return types;
}

}  // namespace starpmc::test
