#include "sampling/solute_multipoles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace starpmc {
namespace {

constexpr double kCutoff = 11;
constexpr double kEdge = 23;
constexpr std::size_t kMolecules = 200;
constexpr std::size_t kPoints = 3000;

/// A nucleus of charge 6 and one of 8, the second near a face of the box.
System system_of_dipoles(std::mt19937& random) {
  System system;
  system.box = {{kEdge, kEdge, kEdge}};
  system.solute = Solute{"solute", {"C", "O"}, {6, 8}, {{0.3, 11, 12}, {0.3, 12.2, 12}}, {0, 0}};
  const auto site = [](double charge, const Vector3& at) {
    Site result;
    result.charge = charge;
    result.reference = at;
    return result;
  };
  system.molecule_types = {
      {"dipole", {site(-0.8, {0.1, 0, 0}), site(0, {0, 0, 1}), site(0.8, {0, 0.9, 0})}}};
  std::uniform_real_distribution<double> uniform(0, kEdge);
  std::normal_distribution<double> normal;
  while (system.molecules.size() < kMolecules) {
    Molecule molecule{0, {uniform(random), uniform(random), uniform(random)}, {}};
    const Vector3 d = system.box.minimum_image(molecule.centre - system.solute->positions[0]);
    if (norm(d) < 4) continue;
    std::array<double, 4> q{};
    for (double& c : q) c = normal(random);
    const double length = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
    molecule.orientation = {q[0] / length, q[1] / length, q[2] / length, q[3] / length};
    system.molecules.push_back(molecule);
  }
  return system;
}

/// 14 electrons about the two nuclei, drawn towards +z; written in the box, as an engine does not.
DensityGrid cloud(const System& system, double width, std::mt19937& random) {
  std::normal_distribution<double> normal;
  DensityGrid grid;
  for (std::size_t p = 0; p < kPoints; ++p) {
    const Vector3& nucleus = system.solute->positions[p % 2];
    const double x = nucleus.x + width * normal(random);
    grid.x.push_back(x - kEdge * std::floor(x / kEdge));
    grid.y.push_back(nucleus.y + width * normal(random));
    grid.z.push_back(nucleus.z + 0.5 * width + width * normal(random));
    grid.charge.push_back(-14.0 / kPoints);
  }
  return grid;
}

double shifted_force(const System& system, const Vector3& a, const Vector3& b) {
  const double r = norm(system.box.minimum_image(a - b));
  return r < kCutoff ? 1 / r - 1 / kCutoff + (r - kCutoff) / (kCutoff * kCutoff) : 0;
}

/// Of every point and nucleus with every site.
double direct_energy(const System& system, const DensityGrid& grid) {
  double sum = 0;
  for (const Molecule& molecule : system.molecules) {
    for (std::size_t s = 0; s < system.molecule_types[0].sites.size(); ++s) {
      const Vector3 at = site_position(system, molecule, s);
      double potential = 0;
      for (std::size_t a = 0; a < 2; ++a) {
        potential += system.solute->atomic_numbers[a] *
                     shifted_force(system, at, system.solute->positions[a]);
      }
      for (std::size_t p = 0; p < grid.size(); ++p) {
        potential += grid.charge[p] * shifted_force(system, at, {grid.x[p], grid.y[p], grid.z[p]});
      }
      sum += system.molecule_types[0].sites[s].charge * potential;
    }
  }
  return 1389.35457644 * sum;
}

struct Errors {
  double largest_energy = 0;
  double root_mean_square = 0;
};

Errors errors_of_clouds(double width) {
  constexpr unsigned kSystems = 10;
  Errors errors;
  for (unsigned seed = 1; seed <= kSystems; ++seed) {
    std::mt19937 random(seed);
    const System system = system_of_dipoles(random);
    const DensityGrid grid = cloud(system, width, random);
    const double expected = direct_energy(system, grid);
    const double found =
        SoluteMultipoles(system, grid).energy_kj_per_mol(system, system.molecules, kCutoff);
    errors.largest_energy = std::max(errors.largest_energy, std::abs(expected));
    errors.root_mean_square += (found - expected) * (found - expected) / kSystems;
  }
  errors.root_mean_square = std::sqrt(errors.root_mean_square);
  return errors;
}

/// What is left out begins with the quadrupoles: errors fall with the square of the clouds' size,
/// those of a wrong dipole would with its first power.
TEST(SoluteMultipoles, FollowTheSumOverPointsAndNuclei) {
  const Errors wide = errors_of_clouds(0.1);
  const Errors narrow = errors_of_clouds(0.05);
  EXPECT_GT(wide.largest_energy, 20);
  EXPECT_LT(wide.root_mean_square, 0.02 * wide.largest_energy);
  EXPECT_NEAR(narrow.root_mean_square / wide.root_mean_square, 0.25, 0.05);
}

}  // namespace
}  // namespace starpmc
