#include "potential/potential_lattice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/base/error.hpp"
#include "potential/pair_function.hpp"
#include "potential/spline_filter.hpp"
#include "tests/kernels/reference_case.hpp"

namespace starpmc {
namespace {

/// A solute of a few charges at its nuclei and between them, in a box with three different edges.
class PotentialLatticeTest : public testing::Test {
 protected:
  static constexpr double kCutoff = 8.5;
  const Box box_{{18, 19.5, 21}};
  const std::vector<Vector3> nuclei_{{1, 2, 3}, {2.4, 2.2, 3.1}, {1.1, 3.3, 2.0}};
  const std::vector<Vector3> points_{{1, 2, 3}, {2.4, 2.2, 3.1}, {1.1, 3.3, 2.0}, {1.5, 2.5, 2.8}};
  /// Of two components.
  const std::vector<double> strengths_{0.6, -0.5, 0.3, -0.7, 0.02, 0.3, -0.21, 0.05};
  Potential functions_;
  bool has_functions_ = false;

  LatticeSources sources(std::span<const double> near, int components) const {
    return {{{box_.lengths.x, box_.lengths.y, box_.lengths.z}, kCutoff, kCutoff},
            has_functions_ ? &functions_ : nullptr,
            points_,
            std::span(strengths_).first(static_cast<std::size_t>(components) * points_.size()),
            near};
  }
  /// As an engine's density has it: smooth where no site comes.
  std::vector<double> near_potentials(const LatticePlan& plan) const {
    std::vector<double> values;
    for (std::size_t c = 0; c < static_cast<std::size_t>(plan.components()); ++c) {
      for (const Vector3& r : plan.near_positions()) {
        double sum = 0;
        for (std::size_t k = 0; k < points_.size(); ++k) {
          const double distance = std::max(norm(r - points_[k]), 1e-6);
          sum += strength(c, k) * STARPMC_COULOMB_CONSTANT * std::erf(2.2 * distance) / distance;
        }
        values.push_back(sum);
      }
    }
    return values;
  }
  double strength(std::size_t component, std::size_t point) const {
    return strengths_[component * points_.size() + point];
  }
  /// Of a unit charge.
  double pair(double r) const {
    if (r >= kCutoff) return 0;
    if (has_functions_) return STARPMC_COULOMB_CONSTANT * (std::exp(-r / 3) / r - 0.002 * r);
    return STARPMC_COULOMB_CONSTANT * (1 / r - 1 / kCutoff + (r - kCutoff) / (kCutoff * kCutoff));
  }
  double direct(const Vector3& r, std::size_t component) const {
    double sum = 0;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      sum += strength(component, k) * pair(norm(box_.minimum_image(r - points_[k])));
    }
    return sum;
  }
  double to_a_nucleus(const Vector3& r) const {
    double least = 1e9;
    for (const Vector3& nucleus : nuclei_) {
      least = std::min(least, norm(box_.minimum_image(r - nucleus)));
    }
    return least;
  }
  LatticePlan plan(const LatticeChoice& choice, int components) const {
    return LatticePlan(choice, nuclei_, box_, components, "a test");
  }

  struct Errors {
    double largest = 0;
    double mean_square = 0;
    int count = 0;
  };
  /// Of positions with a nucleus between two distances.
  Errors errors(const LatticeValues& table, int component, double nearest, double farthest) const {
    std::mt19937 generator(5);
    std::uniform_real_distribution<double> uniform(-30, 30);
    Errors errors;
    while (errors.count < 400) {
      Vector3 r{uniform(generator), uniform(generator), uniform(generator)};
      if (farthest < 10) r = 0.25 * r;
      const double distance = to_a_nucleus(r);
      if (distance < nearest || distance > farthest) continue;
      const double value =
          lattice_value(&table.lattice, table.values.data(), r.x, r.y, r.z, component);
      const double error = value - direct(r, static_cast<std::size_t>(component));
      errors.largest = std::max(errors.largest, std::abs(error));
      errors.mean_square += error * error / 400;
      ++errors.count;
    }
    return errors;
  }
  void expect_direct_sums() const {
    const LatticePlan fine = plan(LatticeChoice::for_potential(kCutoff), 1);
    const LatticeValues table = make_potential_lattice(fine, sources(near_potentials(fine), 1), 2);
    EXPECT_LT(errors(table, 0, 1.8, 2.6).largest, 0.2);
    EXPECT_LT(errors(table, 0, 2.6, 6).largest, 0.1);
    EXPECT_LT(errors(table, 0, 2.6, 30).mean_square, 0.02 * 0.02);
    const LatticePlan coarse = plan(LatticeChoice::for_response(), 2);
    const LatticeValues two =
        make_potential_lattice(coarse, sources(near_potentials(coarse), 2), 2);
    EXPECT_EQ(two.lattice.components, 16);
    for (const int component : {0, 1}) {
      EXPECT_LT(errors(two, component, 3.5, 30).mean_square, 0.2 * 0.2) << component;
    }
    EXPECT_EQ(lattice_value(&two.lattice, two.values.data(), 4, 4, 4, 2), 0);
  }
};

TEST_F(PotentialLatticeTest, IsTheDirectSum) { expect_direct_sums(); }

TEST_F(PotentialLatticeTest, IsTheDirectSumOfAUsersFunction) {
  PairFunction function({{"[potential] coulomb", "exp(-r/3)/r - 0.002*r"}}, {},
                        {CutoffTreatment::truncate, kCutoff, 0});
  functions_.coulomb = function.program();
  functions_.coulomb_pole = 1;
  has_functions_ = true;
  // It jumps at the cutoff, where no lattice follows: positions are nearer.
  const LatticePlan fine = plan(LatticeChoice::for_potential(kCutoff), 1);
  const LatticeValues table = make_potential_lattice(fine, sources(near_potentials(fine), 1), 2);
  EXPECT_LT(errors(table, 0, 1.8, 2.6).largest, 0.2);
  EXPECT_LT(errors(table, 0, 2.6, 4.5).largest, 0.1);
}

TEST_F(PotentialLatticeTest, FollowsTheCutoff) {
  const auto error = [&](const LatticeChoice& choice) {
    const LatticePlan fine = plan(choice, 1);
    const LatticeValues table = make_potential_lattice(fine, sources(near_potentials(fine), 1), 2);
    return std::sqrt(errors(table, 0, kCutoff - 2.5, kCutoff + 0.3).mean_square);
  };
  const double chosen = error(LatticeChoice::for_potential(kCutoff));
  EXPECT_LT(chosen, 0.4 * error({{{3.0, 0.25}}, 0.5, 3.0}));
  EXPECT_LT(chosen, 0.002);
}

TEST_F(PotentialLatticeTest, HasTheValuesOfItsNodes) {
  const LatticePlan fine = plan({{{2, 0.4}}, 1.0, 2.5}, 1);
  std::vector<double> near;
  std::mt19937 generator(9);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (std::size_t i = 0; i < fine.near_positions().size(); ++i) near.push_back(uniform(generator));
  const LatticeValues table = make_potential_lattice(fine, sources(near, 1), 1);
  for (std::size_t i = 0; i < near.size(); i += 11) {
    const Vector3& r = fine.near_positions()[i];
    const LatticePlace place = lattice_place(&table.lattice, r.x, r.y, r.z);
    if (place.level != 0) continue;
    double expected = near[i];
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const double distance = std::max(norm(r - points_[k]), 0.01);
      expected += strength(0, k) * (pair(distance) - STARPMC_COULOMB_CONSTANT / distance);
    }
    EXPECT_NEAR(lattice_value(&table.lattice, table.values.data(), r.x, r.y, r.z, 0), expected,
                2e-5 * (1 + std::abs(expected)));
  }
}

TEST_F(PotentialLatticeTest, IsTheSameWithAnyNumberOfThreads) {
  const LatticePlan coarse = plan(LatticeChoice::for_response(), 2);
  const std::vector<double> near = near_potentials(coarse);
  const LatticeValues one = make_potential_lattice(coarse, sources(near, 2), 1);
  EXPECT_EQ(one.values, make_potential_lattice(coarse, sources(near, 2), 3).values);
}

TEST_F(PotentialLatticeTest, EveryPositionIsServed) {
  // A box smaller than the solute's margins, too.
  for (const Box& box : {box_, Box{{7, 8, 9}}}) {
    const LatticePlan fine(LatticeChoice::for_potential(kCutoff), nuclei_, box, 1, "a test");
    const PotentialLattice& lattice = fine.lattice();
    std::mt19937 generator(1);
    std::uniform_real_distribution<double> uniform(-20, 20);
    for (int i = 0; i < 2000; ++i) {
      const LatticePlace place =
          lattice_place(&lattice, uniform(generator), uniform(generator), uniform(generator));
      for (const double fraction : place.fraction) {
        EXPECT_GE(fraction, 0);
        EXPECT_LT(fraction, 1);
      }
    }
    for (const Vector3& r : fine.near_positions()) {
      double least = 1e9;
      for (const Vector3& nucleus : nuclei_) least = std::min(least, norm(r - nucleus));
      EXPECT_LT(least, LatticeChoice::for_potential(kCutoff).near_distance_angstrom);
    }
  }
}

TEST_F(PotentialLatticeTest, RefusesWhatDoesNotFit) {
  const LatticePlan fine = plan({{{1, 0.5}}, 2.0, 1.0}, 1);
  std::vector<double> near = near_potentials(fine);
  near.back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(make_potential_lattice(fine, sources(near, 1), 1), RunError);
  near.pop_back();
  EXPECT_THROW(make_potential_lattice(fine, sources(near, 1), 1), RunError);
  EXPECT_THROW(plan({{{3, 0.01}}, 0.02, 1.0}, 96), RunError);
}

TEST(SplineFilter, TheSplineHasTheValues) {
  const int nodes[3] = {7, 5, 9};
  constexpr int kComponents = 2;
  std::mt19937 generator(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(7 * 5 * 9 * kComponents);
  for (double& value : values) value = uniform(generator);
  std::vector<double> coefficients = values;
  filter_to_spline(coefficients, nodes, kComponents);
  const auto at = [&](int i, int j, int k, int c) {
    return static_cast<std::size_t>(((i * nodes[1] + j) * nodes[2] + k) * kComponents + c);
  };
  // Nodes at an end have a neighbour outside, which would be a linear continuation.
  const auto spline = [&](int i, int j, int k, int c) {
    double sum = 0;
    for (int a = 0; a < nodes[0]; ++a) {
      for (int b = 0; b < nodes[1]; ++b) {
        for (int d = 0; d < nodes[2]; ++d) {
          sum += test::b_spline(a - i) * test::b_spline(b - j) * test::b_spline(d - k) *
                 coefficients[at(a, b, d, c)];
        }
      }
    }
    return sum;
  };
  for (int i = 1; i + 1 < nodes[0]; ++i) {
    for (int j = 1; j + 1 < nodes[1]; ++j) {
      for (int k = 1; k + 1 < nodes[2]; ++k) {
        for (int c = 0; c < kComponents; ++c) {
          EXPECT_NEAR(spline(i, j, k, c), values[at(i, j, k, c)], 1e-12);
        }
      }
    }
  }
}

/// Without curvature at the ends a straight line stays one.
TEST(SplineFilter, KeepsStraightLines) {
  std::vector<double> values{1, 3, 5, 7, 9, 11};
  const std::vector<double> before = values;
  filter_to_spline(values.data(), values.size(), 1, 1);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], before[i], 1e-13);
}

}  // namespace
}  // namespace starpmc
