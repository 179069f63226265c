#include "bench/synthetic_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace starpmc {
namespace {

Solute formaldehyde() {
  return {"formaldehyde",
          {"C", "O", "H", "H"},
          {6, 8, 1, 1},
          {{10, 10, 10}, {11.2, 10, 10}, {9.45, 10.93, 10}, {9.45, 9.07, 10}},
          {0, 1, 2, 2}};
}

Solute atom(int atomic_number) { return {"atom", {"X"}, {atomic_number}, {{5, 6, 7}}, {0}}; }

double total_charge(const DensityGrid& grid) {
  return std::accumulate(grid.charge.begin(), grid.charge.end(), 0.0);
}

/// Charge of the shells of a grid around one atom, by radius.
std::map<double, double> shells(const DensityGrid& grid, const Vector3& centre) {
  std::map<double, double> charges;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const double r = norm(Vector3{grid.x[i], grid.y[i], grid.z[i]} - centre);
    charges[std::round(r * 1e8) * 1e-8] += grid.charge[i];
  }
  return charges;
}

TEST(SyntheticGrid, HasExactlyTheNumberOfPoints) {
  for (const std::size_t points : {4UL, 1000UL, 20'000UL, 183'356UL}) {
    const DensityGrid grid = synthetic_grid(formaldehyde(), 16, points);
    EXPECT_EQ(grid.size(), points);
    EXPECT_EQ(grid.x.size(), points);
    EXPECT_EQ(grid.y.size(), points);
    EXPECT_EQ(grid.z.size(), points);
  }
}

TEST(SyntheticGrid, HoldsTheElectrons) {
  EXPECT_NEAR(total_charge(synthetic_grid(formaldehyde(), 16, 20'000)), -16, 1e-10);
  EXPECT_NEAR(total_charge(synthetic_grid(formaldehyde(), 17, 1000)), -17, 1e-10);
}

TEST(SyntheticGrid, EveryPointHasElectrons) {
  const DensityGrid grid = synthetic_grid(formaldehyde(), 16, 20'000);
  EXPECT_THAT(grid.charge, testing::Each(testing::AllOf(testing::Lt(0), testing::Gt(-1))));
}

TEST(SyntheticGrid, ShellsAreThoseOfMuraAndKnowles) {
  const auto charges = shells(synthetic_grid(atom(6), 6, 50 * 974), {5, 6, 7});
  ASSERT_EQ(charges.size(), 50U);
  int shell = 0;
  for (const auto& [radius, charge] : charges) {
    const double x = (shell + 0.5) / 50;
    EXPECT_NEAR(radius, -5 * 0.529177 * std::log(1 - x * x * x), 1e-5) << shell;
    ++shell;
  }
}

/// Between neighbouring shells the density of hydrogen falls by exp(-1.8 dr / bohr).
TEST(SyntheticGrid, DensityDecaysExponentially) {
  const std::size_t shell_count = 60;
  const auto charges = shells(synthetic_grid(atom(1), 1, shell_count * 974), {5, 6, 7});
  std::vector<double> radii;
  std::vector<double> densities;
  std::size_t shell = 0;
  for (const auto& [radius, charge] : charges) {
    const double x = (static_cast<double>(shell++) + 0.5) / shell_count;
    const double exact = -5 * 0.529177210903 * std::log1p(-x * x * x);  // not rounded
    EXPECT_NEAR(radius, exact, 1e-8);
    radii.push_back(exact);
    densities.push_back(-charge / (exact * exact * 3 * x * x / (1 - x * x * x)));
  }
  for (std::size_t k = 1; k < radii.size(); ++k) {
    const double decay = std::log(densities[k - 1] / densities[k]) / (radii[k] - radii[k - 1]);
    EXPECT_NEAR(decay, 1.8 / 0.529177210903, 1e-6) << k;
  }
}

TEST(SyntheticGrid, ShellsAreBalanced) {
  const DensityGrid grid = synthetic_grid(atom(8), 8, 30 * 974);
  Vector3 dipole;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const Vector3 r{grid.x[i] - 5, grid.y[i] - 6, grid.z[i] - 7};
    dipole = dipole + grid.charge[i] * r;
  }
  EXPECT_LT(norm(dipole), 0.01);
}

}  // namespace
}  // namespace starpmc
