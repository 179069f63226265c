#include "potential/point_sum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "potential/lattice_plan.hpp"
#include "potential/pair_function.hpp"

namespace starpmc {
namespace {

constexpr double kBox = 21;
constexpr double kCutoff = 9;
const Interaction kInteraction{{kBox, kBox, kBox}, kCutoff, kCutoff};

class PointSumTest : public testing::Test {
 protected:
  PointSumTest() {
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> uniform(-3, 3);
    for (int i = 0; i < 75; ++i) {
      points_.push_back({uniform(generator), uniform(generator), uniform(generator)});
      strengths_.push_back(uniform(generator));
    }
    for (int i = 0; i < 13; ++i) line_.push_back({2.9, -0.3, -9 + 1.4 * i});
    for (int i = 0; i < 16; ++i) {
      scattered_.push_back({4 * uniform(generator), uniform(generator), 2 * uniform(generator)});
    }
  }
  PointSum::Potentials sum(std::span<const Vector3> positions, std::span<const bool> bare,
                           double ball_radius) const {
    PointSum sum(kInteraction, functions_, points_, ball_radius);
    std::array<PointSum::Potentials, 1> sums;
    sum(positions, bare, strengths_, sums);
    return sums[0];
  }
  /// Of all points at one position, one after the other.
  template <class Pair>
  double direct(const Vector3& position, const Pair& pair) const {
    double sum = 0;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      sum += strengths_[k] * pair(position - points_[k]);
    }
    return STARPMC_COULOMB_CONSTANT * sum;
  }
  static double image_distance(const Vector3& d) {
    const auto image = [](double x) { return x - kBox * std::round(x / kBox); };
    return norm(Vector3{image(d.x), image(d.y), image(d.z)});
  }
  static double shifted_force(double r) {
    return r < kCutoff ? std::pow(1 - r / kCutoff, 2) / r : 0;
  }

  const Potential* functions_ = nullptr;
  std::vector<Vector3> points_;
  std::vector<double> strengths_;
  std::vector<Vector3> line_;
  std::vector<Vector3> scattered_;
};

TEST_F(PointSumTest, IsThatOfAllPairs) {
  const std::array<bool, 16> bare{false, true, false, true};
  for (const std::vector<Vector3>& positions : {line_, scattered_}) {
    const PointSum::Potentials sums = sum(positions, std::span(bare).first(positions.size()), 0);
    for (std::size_t n = 0; n < positions.size(); ++n) {
      const double expected = direct(positions[n], [&](const Vector3& d) {
        return shifted_force(image_distance(d)) - (bare[n] ? 1 / norm(d) : 0);
      });
      EXPECT_NEAR(sums[n], expected, 1e-6) << n;
    }
  }
}

/// Of concentric shells: those inside act from the centre, those outside have one potential inside.
double ball_potential(double r, double radius) {
  constexpr int kShells = 20000;
  double charge = 0;
  double sum = 0;
  for (int i = 0; i < kShells; ++i) {
    const double shell = (i + 0.5) * radius / kShells;
    const double s = shell / radius;
    const double part = s * s * std::pow(1 - s * s, 2);
    charge += part;
    sum += part / std::max(shell, r);
  }
  return sum / charge;
}

TEST_F(PointSumTest, BallsHaveThePotentialOfTheirCharge) {
  constexpr double kRadius = 2.5;
  const std::array<bool, 16> bare{};
  for (const std::vector<Vector3>& positions : {line_, scattered_}) {
    const PointSum::Potentials sums =
        sum(positions, std::span(bare).first(positions.size()), kRadius);
    for (std::size_t n = 0; n < positions.size(); ++n) {
      const double expected = direct(positions[n], [&](const Vector3& d) {
        const double r = image_distance(d);
        return shifted_force(r) - 1 / r + ball_potential(r, kRadius);
      });
      EXPECT_NEAR(sums[n], expected, 1e-3) << n;
    }
  }
}

Potential users_function() {
  PairFunction function({{"[potential] coulomb", "exp(-r/3)/r"}}, {},
                        {CutoffTreatment::truncate, kCutoff, 0});
  Potential functions;
  functions.coulomb = function.program();
  functions.coulomb_pole = 1;
  return functions;
}

/// Balls take the place of its 1/r part.
TEST_F(PointSumTest, OfAUsersFunctionIsThatOfAllPairs) {
  constexpr double kRadius = 2.5;
  const Potential functions = users_function();
  functions_ = &functions;
  const std::array<bool, 16> bare{};
  for (const double radius : {0.0, kRadius}) {
    const PointSum::Potentials sums = sum(scattered_, bare, radius);
    for (std::size_t n = 0; n < scattered_.size(); ++n) {
      const double expected = direct(scattered_[n], [&](const Vector3& d) {
        const double r = image_distance(d);
        const double pair = r < kCutoff ? std::exp(-r / 3) / r : 0;
        return radius == 0 ? pair : pair - 1 / r + ball_potential(r, radius);
      });
      EXPECT_NEAR(sums[n], expected, radius == 0 ? 1e-6 : 1e-3) << n;
    }
  }
}

TEST(RadialCoulomb, NoInversesAreReadForAUsersFunction) {
  const Potential functions = users_function();
  RadialCoulomb coulomb(kInteraction, &functions);
  EXPECT_FALSE(coulomb.reads_inverses());
  EXPECT_TRUE(RadialCoulomb(kInteraction, nullptr).reads_inverses());
  const std::vector<double> squared{4, 9, 100};
  std::vector<double> energies(3);
  coulomb.values(squared, {}, energies);
  EXPECT_NEAR(energies[0], STARPMC_COULOMB_CONSTANT * std::exp(-2.0 / 3) / 2, 1e-9);
  EXPECT_NEAR(energies[1], STARPMC_COULOMB_CONSTANT * std::exp(-1.0) / 3, 1e-9);
  EXPECT_EQ(energies[2], 0);
}

/// However positions are put together.
TEST_F(PointSumTest, PositionsHaveTheirOwnBits) {
  const std::array<bool, 13> bare{true, true};
  for (const double ball_radius : {0.0, 2.5}) {
    const PointSum::Potentials of_line = sum(line_, bare, ball_radius);
    for (std::size_t n = 0; n < line_.size(); ++n) {
      const std::array<Vector3, 2> positions{line_[n], {1, 2, 3}};
      const std::array<bool, 2> its_bare{bare[n], false};
      EXPECT_EQ(sum(positions, its_bare, ball_radius)[0], of_line[n]) << n;
    }
  }
}

TEST(InverseRoots, AreTrueToTheirBound) {
  std::vector<double> x;
  for (double value = 1e-4; value < 1e6; value *= 1.0007) x.push_back(value);
  std::vector<double> roots(x.size());
  inverse_roots(x, roots);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(roots[i] * std::sqrt(x[i]) - 1));
  }
  EXPECT_LT(largest, 4e-11);
  EXPECT_GT(largest, 1e-12);
}

/// A coarse level must not show where balls took the place of points.
TEST(LatticePlan, BallsLieWhereTheFinerLevelServes) {
  const std::vector<Vector3> nuclei{{1, 2, 3}, {4, 2.5, 2}};
  const std::vector<Vector3> points{{1, 2, 3}, {5.1, 2.5, 2}, {1, 2, 4.6}, {2, 2, 2}};
  const LatticePlan plan(LatticeChoice::for_potential(9), nuclei, {{30, 30, 30}}, 1, "a test");
  const double radius = plan.ball_radius(1, points);
  EXPECT_GT(radius, 1.5);
  EXPECT_LT(radius, 3.5);
  EXPECT_EQ(plan.ball_radius(0, points), 0);
  for (const Vector3& point : points) {
    for (int i = 0; i < 6; ++i) {
      const double r = (i % 2 == 0 ? 0.999 : -0.999) * radius;
      const Vector3 at =
          point + Vector3{i / 2 == 0 ? r : 0, i / 2 == 1 ? r : 0, i / 2 == 2 ? r : 0};
      const LatticePlace place = lattice_place(&plan.lattice(), at.x, at.y, at.z);
      EXPECT_EQ(place.level, 0);
    }
  }
  // A cell that the finest level holds whole: nothing limits a ball.
  const LatticePlan whole(LatticeChoice::for_potential(9), nuclei, {{8, 8, 8}}, 1, "a test");
  EXPECT_EQ(whole.ball_radius(1, points), 3.5);
}

}  // namespace
}  // namespace starpmc
