#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/compact_blocks.hpp"
#include "kernels/interaction.hpp"
#include "kernels/operations.hpp"
#include "kernels/whole_units.hpp"
#include "window_fixture.hpp"

/// Points and molecules put where the grid term is hardest, and its energies as plain loops.
namespace starpmc::test {

using Place = std::array<double, 3>;

struct GridPoint {
  Place position;
  double charge;
  double extent = 0;
};

struct GridMolecule {
  int type;  ///< 0: one charge; 1: four sites, the first without charge
  Place centre;
};

struct GridCase {
  std::string name;
  Interaction interaction{};
  std::vector<GridPoint> points;
  std::vector<GridMolecule> molecules;

  const double* box() const { return interaction.box; }
};

/// A window whose candidates are the molecules of a case, one each.
class GridWindow {
 public:
  static constexpr int kSites = 4;
  static constexpr double kReference[2][kSites][4] = {
      {{0, 0, 0, 0.3}},
      {{0, -0.07, 0, 0}, {0.76, 0.52, 0, 0.52}, {-0.76, 0.52, 0, 0.52}, {0, 0.08, 0, -1.04}}};
  static constexpr int kSiteCount[2] = {1, kSites};

  explicit GridWindow(const GridCase& grid) : interaction_(grid.interaction) {
    const int molecules = static_cast<int>(grid.molecules.size());
    const int padded = (molecules + 15) / 16 * 16;
    shape_ = {2, kSites, 1, molecules, padded, 0, {}};
    layout_ = {molecules, molecules + 3, kSites, padded};
    reals_.assign(size(topology_reals_size(shape_)), 0.0);
    integers_.assign(size(topology_integers_size(shape_)), 0);
    plan_.assign(size(plan_size(layout_)), 0);
    entries_.assign(size(entries_size(layout_)), 0.0);
    plan_[PLAN_STEPS] = plan_[PLAN_CANDIDATES] = molecules;
    for (int type = 0; type < 2; ++type) {
      integers_[size(topology_site_count(shape_, type))] = kSiteCount[type];
      for (int site = 0; site < kSites; ++site) {
        std::copy_n(kReference[type][site], 4, &reals_[size(topology_site(shape_, type, site))]);
      }
    }
    shape_.largest_radius = Topology{shape_, reals_, integers_}.largest_radius();
    for (int m = 0; m < molecules; ++m) {
      const GridMolecule& molecule = grid.molecules[size(m)];
      integers_[size(m)] = molecule.type;
      plan_[size(plan_candidate_step(layout_) + m)] = m;
      plan_[size(plan_step_molecule(layout_) + m)] = m;
      for (int k = 0; k < 3; ++k) {
        field(POSE_X + k, m) = molecule.centre[size(k)];
        for (int site = 0; site < kSites; ++site) {
          field(POSE_FIELDS + 3 * site + k, m) = kReference[molecule.type][site][k];
        }
      }
    }
  }

  Window window() const {
    return {layout_, interaction_, {shape_, reals_, integers_}, plan_, entries_};
  }
  const std::vector<double>& reals() const { return reals_; }
  const std::vector<int>& integers() const { return integers_; }
  const std::vector<int>& plan() const { return plan_; }
  const std::vector<double>& entries() const { return entries_; }

 private:
  static std::size_t size(int value) { return static_cast<std::size_t>(value); }
  double& field(int field, int candidate) {
    return entries_[size(field * entry_capacity(layout_) + candidate)];
  }

  Interaction interaction_;
  TopologyShape shape_{};
  WindowLayout layout_{};
  std::vector<double> reals_;
  std::vector<int> integers_;
  std::vector<int> plan_;
  std::vector<double> entries_;
};

template <class Real>
CompactBlocks<Real> blocks_of(const GridCase& grid) {
  std::array<std::vector<double>, 5> fields;
  for (const GridPoint& point : grid.points) {
    for (std::size_t k = 0; k < 3; ++k) fields[k].push_back(point.position[k]);
    fields[3].push_back(point.charge);
    fields[4].push_back(point.extent);
  }
  return make_compact_blocks<Real>(fields[0], fields[1], fields[2], fields[3], fields[4],
                                   grid.interaction.box);
}

/// An energy, and the magnitude of what cancels in it.
struct NaiveGridEnergy {
  double value = 0;
  double scale = 0;
};

inline NaiveGridEnergy naive_grid_energy(const GridCase& grid, const GridMolecule& molecule) {
  NaiveGridEnergy sum;
  const double cutoff = grid.interaction.coulomb_cutoff;
  for (int site = 0; site < GridWindow::kSiteCount[molecule.type]; ++site) {
    const double* const reference = GridWindow::kReference[molecule.type][site];
    for (const GridPoint& point : grid.points) {
      double squared = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        squared += std::pow(
            std::remainder(molecule.centre[k] + reference[k] - point.position[k], grid.box()[k]),
            2);
      }
      const double r = std::max(std::sqrt(squared), 0.01);
      const double factor = 1389.35457644 * reference[3] * point.charge;
      // fp32 takes a pair at the cutoff for one inside it
      if (r < cutoff * (1 + 1e-6)) sum.scale += std::abs(factor) * (1 / r + 2 / cutoff);
      if (r >= cutoff) continue;
      sum.value += factor * cloud_coulomb(r, point.extent, cutoff)[0];
    }
  }
  return sum;
}

inline void expect_naive(const GridCase& grid, const std::vector<double>& energies,
                         double tolerance) {
  // to whole units, of every site and group of blocks; blocks are at least half full
  const double blocks = 2.0 * static_cast<double>(grid.points.size()) / STARPMC_BLOCK_POINTS;
  const double rounding = GridWindow::kSites * (blocks / kGroupBlocks + 1) * kGridUnit / 2;
  for (std::size_t m = 0; m < grid.molecules.size(); ++m) {
    const NaiveGridEnergy naive = naive_grid_energy(grid, grid.molecules[m]);
    ASSERT_NEAR(energies[m], naive.value, tolerance * naive.scale + rounding)
        << grid.name << ", molecule " << m;
  }
}

/// Makes the cases: points in a cloud, molecules all over the box, and more by hand.
class GridCases {
 public:
  std::vector<GridCase> all() {
    return {half_the_edge(), orthorhombic(), at_the_corner(), scattered(), at_reach(),
            on_points(),     crowded(),      alone(),         outside(),   inside_points()};
  }

 private:
  /// A cutoff of half the edge: every site has two images in reach of some blocks.
  GridCase half_the_edge() {
    GridCase grid = cloud("cutoff of half the edge", {20, 20, 20}, 10, {10, 10, 10}, 4000);
    for (const double x : {0.0, 10.0, 20.0}) {
      for (const double y : {0.0, 10.0, 20.0}) {
        for (const double z : {0.0, 10.0, 20.0}) grid.molecules.push_back({0, {x, y, z}});
      }
    }
    return grid;
  }
  GridCase orthorhombic() { return cloud("orthorhombic", {19, 23, 31}, 9.5, {8, 15, 4}, 3000); }
  /// Points on both sides of every face.
  GridCase at_the_corner() { return cloud("at the corner", {18, 20, 22}, 8, {18, 0, 22}, 3000); }
  /// Few points all over the box: blocks as wide as they may be.
  GridCase scattered() {
    GridCase grid = cloud("scattered", {16, 16, 17}, 8, {8, 8, 8}, 0);
    for (int i = 0; i < 700; ++i) grid.points.push_back({anywhere(grid), -0.02});
    return grid;
  }
  /// Sites exactly at the cutoff, at a block's reach and at twice its radius.
  GridCase at_reach() {
    GridCase grid = cloud("at reach", {40, 40, 40}, 9, {20, 20, 20}, 0);
    for (const double x : {19.0, 21.0}) grid.points.push_back({{x, 20, 20}, -0.5});
    for (const double distance : {1.0, 2.0, 8.0, 9.0, 10.0, 20.0}) {
      for (const double step : {-1e-2, -1e-3, -1e-6, 0.0, 1e-6, 1e-3, 1e-2}) {
        grid.molecules.push_back({0, {20 + distance + step, 20, 20}});
        grid.molecules.push_back({0, {20, 20 - distance - step, 20}});
      }
    }
    return grid;
  }
  /// Sites on points, at the centre of a block, and a little beside them.
  GridCase on_points() {
    GridCase grid = cloud("on points", {24, 24, 24}, 9, {12, 12, 12}, 2000);
    for (std::size_t i = 0; i < 2000; i += 97) {
      Place place = grid.points[i].position;
      grid.molecules.push_back({0, place});
      place[0] += 0.004;
      grid.molecules.push_back({0, place});
    }
    const CompactBlocks<double> blocks = blocks_of<double>(grid);
    for (std::size_t block = 0; block < blocks.block_count(); ++block) {
      const double* const origin = &blocks.blocks[block * BLOCK_FIELDS];
      grid.molecules.push_back({0, {origin[0], origin[1], origin[2]}});
    }
    return grid;
  }
  /// Sites inside the extents of points of all sizes, at their rims, and all of it across a face.
  GridCase inside_points() {
    GridCase grid = cloud("inside points", {22, 24, 26}, 9, {21, 12, 1}, 1500);
    for (std::size_t i = 0; i < grid.points.size(); ++i) {
      grid.points[i].extent = 0.015 * static_cast<double>(i % 100);
    }
    for (std::size_t i = 0; i < grid.points.size(); i += 23) {
      for (const double part : {0.0, 0.3, 0.9999, 1.0001}) {
        Place place = grid.points[i].position;
        place[i % 3] += part * grid.points[i].extent;
        grid.molecules.push_back({0, place});
      }
    }
    return grid;
  }
  /// More sites in reach of a block than any list holds.
  GridCase crowded() {
    GridCase grid = cloud("crowded", {20, 20, 20}, 10, {3, 10, 10}, 600);
    for (int i = 0; i < 900; ++i) grid.molecules.push_back({1, anywhere(grid)});
    return grid;
  }
  GridCase alone() {
    GridCase grid = cloud("alone", {20, 20, 20}, 6, {5, 5, 5}, 300);
    grid.molecules = {{0, {7, 5, 5}}};
    return grid;
  }
  /// A grid outside the box, whose molecules are inside.
  GridCase outside() { return cloud("outside", {20, 21, 22}, 9, {-27, 55, 11}, 1500); }

  GridCase cloud(const std::string& name, const Place& box, double cutoff, const Place& centre,
                 int points) {
    GridCase grid;
    grid.name = name;
    grid.interaction = interaction_within(box, cutoff, cutoff);
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> distance(0.8);
    for (int i = 0; i < points; ++i) {
      const Place direction{normal(random_), normal(random_), normal(random_)};
      const double r =
          std::min(distance(random_), 7.0) / std::hypot(direction[0], direction[1], direction[2]);
      grid.points.push_back({{centre[0] + r * direction[0], centre[1] + r * direction[1],
                              centre[2] + r * direction[2]},
                             -12.0 / points});
    }
    for (int i = 0; i < 60; ++i) grid.molecules.push_back({i % 5 == 0 ? 0 : 1, anywhere(grid)});
    return grid;
  }
  Place anywhere(const GridCase& grid) {
    std::uniform_real_distribution<double> uniform(0, 1);
    return {uniform(random_) * grid.box()[0], uniform(random_) * grid.box()[1],
            uniform(random_) * grid.box()[2]};
  }

  std::mt19937_64 random_{20};
};

}  // namespace starpmc::test
