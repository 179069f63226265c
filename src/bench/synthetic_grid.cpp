#include "bench/synthetic_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace starpmc {
namespace {

constexpr double kBohr = 0.529177210903;  // angstrom
constexpr double kPointsPerShell = 974;   // Lebedev's order 53
/// Scale and exponent of Mura and Knowles, J. Chem. Phys. 104, 9848 (1996).
constexpr double kRadialScale = 5 * kBohr;
constexpr double kRadialExponent = 3;
/// Decay of the valence density, that of an ionisation energy of 0.4 Hartree: 2 sqrt(2 I).
constexpr double kValenceDecay = 1.8 / kBohr;  // 1/angstrom

struct Atom {
  Vector3 centre;
  int atomic_number;
};

/// Share `index` of `total`, cut into `parts` that differ by at most one.
std::size_t share(std::size_t total, std::size_t parts, std::size_t index) {
  return total * (index + 1) / parts - total * index / parts;
}

/// Normalised exponential density of so many electrons.
double exponential(double electrons, double decay, double r) {
  return electrons * decay * decay * decay / (8 * std::numbers::pi) * std::exp(-decay * r);
}

/// Electrons per cubic angstrom at a distance from the nucleus.
double atomic_density(int atomic_number, double r) {
  const int core = atomic_number > 2 ? 2 : 0;
  const double core_decay = 2 * (atomic_number - 0.3) / kBohr;
  return exponential(core, core_decay, r) + exponential(atomic_number - core, kValenceDecay, r);
}

/// Point i of n on the unit sphere, spread evenly by the golden angle.
Vector3 fibonacci_direction(std::size_t i, std::size_t n) {
  const double z = 1 - (2 * static_cast<double>(i) + 1) / static_cast<double>(n);
  const double golden_angle = std::numbers::pi * (3 - std::sqrt(5.0));
  const double azimuth = golden_angle * static_cast<double>(i);
  const double radius = std::sqrt(std::max(0.0, 1 - z * z));
  return {radius * std::cos(azimuth), radius * std::sin(azimuth), z};
}

/// Radius of a shell and its volume, 4 pi r^2 dr.
struct Shell {
  double radius;
  double volume;
};
Shell mura_knowles_shell(std::size_t shell, std::size_t shells) {
  const double step = 1 / static_cast<double>(shells);
  const double x = (static_cast<double>(shell) + 0.5) * step;
  const double power = std::pow(x, kRadialExponent);
  const double radius = -kRadialScale * std::log1p(-power);
  const double derivative = kRadialScale * kRadialExponent * power / x / (1 - power);
  return {radius, 4 * std::numbers::pi * radius * radius * derivative * step};
}

void add_atom(const Atom& atom, std::size_t points, DensityGrid& grid) {
  const auto shells = static_cast<std::size_t>(
      std::max(1.0, std::round(static_cast<double>(points) / kPointsPerShell)));
  for (std::size_t k = 0; k < shells; ++k) {
    const std::size_t count = share(points, shells, k);
    const Shell shell = mura_knowles_shell(k, shells);
    const double charge = -atomic_density(atom.atomic_number, shell.radius) * shell.volume /
                          static_cast<double>(count);
    // As the QM workers' (protocol.md), of cells as wide as they are deep.
    const double extent = std::min(
        kLargestExtentAngstrom,
        2 * std::cbrt(3 * shell.volume / static_cast<double>(count) / (4 * std::numbers::pi)));
    for (std::size_t i = 0; i < count; ++i) {
      const Vector3 r = atom.centre + shell.radius * fibonacci_direction(i, count);
      grid.x.push_back(r.x);
      grid.y.push_back(r.y);
      grid.z.push_back(r.z);
      grid.charge.push_back(charge);
      grid.extent.push_back(extent);
    }
  }
}

}  // namespace

DensityGrid synthetic_grid(const Solute& solute, int electrons, std::size_t points) {
  DensityGrid grid;
  for (auto* values : {&grid.x, &grid.y, &grid.z, &grid.charge, &grid.extent})
    values->reserve(points);
  const std::size_t atoms = solute.atom_count();
  for (std::size_t atom = 0; atom < atoms; ++atom) {
    add_atom({solute.positions[atom], solute.atomic_numbers[atom]}, share(points, atoms, atom),
             grid);
  }
  double sum = 0;
  for (const double charge : grid.charge) sum += charge;
  for (double& charge : grid.charge) charge *= -electrons / sum;
  return grid;
}

}  // namespace starpmc
