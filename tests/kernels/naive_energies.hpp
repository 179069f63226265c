#pragma once

#include <cmath>

#include "window_fixture.hpp"

/// Every energy term again as plain double loops that share no code with the kernels.
namespace starpmc::test {

/// A value, and the magnitude of what cancels in it: what rounding errors are measured by.
struct Sum {
  double value = 0;
  double scale = 0;

  void add(double term) {
    value += term;
    scale += std::abs(term);
  }
  void add(double factor, const Sum& other) {
    value += factor * other.value;
    scale += std::abs(factor) * other.scale;
  }
  void add(const Sum& other) {
    value += other.value;
    scale += other.scale;
  }
};

struct MolecularEnergy {
  Sum coulomb;
  Sum vdw;
};

using Vector = std::array<double, 3>;

struct Placed {
  int type = 0;
  double pose[POSE_FIELDS] = {};
};

inline double distance(const Vector& a, const Vector& b, const Interaction& box) {
  double squared = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    double d = a[k] - b[k];
    while (d > box.box[k] / 2) d -= box.box[k];
    while (d < -box.box[k] / 2) d += box.box[k];
    squared += d * d;
  }
  return std::max(std::sqrt(squared), 0.01);
}

/// Position of a site: centre plus rotation matrix of the unit quaternion times reference.
inline Vector site_position(const TestSystem& system, const Placed& molecule, int site) {
  const double w = molecule.pose[3];
  const double x = molecule.pose[4];
  const double y = molecule.pose[5];
  const double z = molecule.pose[6];
  const double matrix[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                               {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                               {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  const double* const r =
      &system.reals[static_cast<std::size_t>(topology_site(system.shape, molecule.type, site))];
  Vector position{};
  for (std::size_t k = 0; k < 3; ++k) {
    position[k] =
        molecule.pose[k] + matrix[k][0] * r[0] + matrix[k][1] * r[1] + matrix[k][2] * r[2];
  }
  return position;
}

/// Of unit charges.
inline Sum coulomb_energy(double r, double cutoff) {
  Sum energy;
  if (r >= cutoff) return energy;
  energy.add(1389.35457644 / r);
  energy.add(1389.35457644 * (-1 / cutoff + (r - cutoff) / (cutoff * cutoff)));
  return energy;
}

/// With a point of the density, a cloud of some extent.
inline Sum point_energy(double r, double extent, double cutoff) {
  Sum energy = coulomb_energy(r, cutoff);
  energy.add(1389.35457644 *
             (cloud_coulomb(r, extent, cutoff)[0] - cloud_coulomb(r, 0, cutoff)[0]));
  return energy;
}

inline Sum vdw_energy(const TestSystem& system, int a, int b, double r) {
  Sum energy;
  if (r >= system.interaction.vdw_cutoff) return energy;
  const double* const c =
      &system.reals[static_cast<std::size_t>(topology_pair(system.shape, a, b))];
  const double r6 = std::pow(r, 6);
  for (const double term : {c[0] / (r6 * r6), -c[1] / r6, c[2], c[3] * r}) energy.add(term);
  return energy;
}

inline double charge_of(const TestSystem& system, int type, int site) {
  return system.reals[static_cast<std::size_t>(topology_site(system.shape, type, site)) + 3];
}

inline Sum naive_grid(const TestSystem& system, const Placed& molecule) {
  Sum sum;
  for (int site = 0; site < system.topology().site_count(molecule.type); ++site) {
    const Vector position = site_position(system, molecule, site);
    const double charge = charge_of(system, molecule.type, site);
    for (std::size_t p = 0; p < system.point_position.size(); p += 4) {
      const double* const point = &system.point_position[p];
      const double r = distance(position, {point[0], point[1], point[2]}, system.interaction);
      sum.add(charge * point[3],
              point_energy(r, point_extent(point), system.interaction.coulomb_cutoff));
    }
  }
  return sum;
}

inline MolecularEnergy naive_nuclei(const TestSystem& system, const Placed& molecule) {
  MolecularEnergy sum;
  const auto n = static_cast<std::size_t>(system.nuclei);
  for (int site = 0; site < system.topology().site_count(molecule.type); ++site) {
    const Vector position = site_position(system, molecule, site);
    for (std::size_t i = 0; i < n; ++i) {
      const Vector nucleus{system.solute[i], system.solute[n + i], system.solute[2 * n + i]};
      const double r = distance(position, nucleus, system.interaction);
      sum.coulomb.add(charge_of(system, molecule.type, site) * system.solute[3 * n + i],
                      coulomb_energy(r, system.interaction.coulomb_cutoff));
      sum.vdw.add(vdw_energy(system, system.topology().site_type(molecule.type, site),
                             static_cast<int>(system.solute[4 * n + i]), r));
    }
  }
  return sum;
}

inline MolecularEnergy naive_pair(const TestSystem& system, const Placed& a, const Placed& b) {
  MolecularEnergy sum;
  const Topology topology = system.topology();
  for (int i = 0; i < topology.site_count(a.type); ++i) {
    for (int j = 0; j < topology.site_count(b.type); ++j) {
      const double r =
          distance(site_position(system, a, i), site_position(system, b, j), system.interaction);
      sum.coulomb.add(charge_of(system, a.type, i) * charge_of(system, b.type, j),
                      coulomb_energy(r, system.interaction.coulomb_cutoff));
      sum.vdw.add(
          vdw_energy(system, topology.site_type(a.type, i), topology.site_type(b.type, j), r));
    }
  }
  return sum;
}

inline Placed placed_molecule(const TestSystem& system, const std::vector<double>& lattice,
                              int molecule) {
  Placed placed;
  placed.type = system.topology().type_of(molecule);
  for (std::size_t k = 0; k < POSE_FIELDS; ++k) {
    placed.pose[k] =
        lattice[k * static_cast<std::size_t>(system.padded) + static_cast<std::size_t>(molecule)];
  }
  return placed;
}

inline Placed placed_entry(const TestSystem& system, const Window& window, int entry) {
  Placed placed;
  placed.type = system.topology().type_of(window.molecule_of_entry(entry));
  for (int k = 0; k < POSE_FIELDS; ++k) placed.pose[k] = window.field(k, entry);
  return placed;
}

/// Candidates, then start entries: what is defined of a window's entries.
inline std::vector<int> active_entries(const Window& window) {
  std::vector<int> entries;
  for (int i = 0; i < window.candidates(); ++i) entries.push_back(i);
  for (int i = 0; i < window.starts(); ++i) entries.push_back(start_entry(window.layout, i));
  return entries;
}

/// Energy of an entry with all molecules but its own, those of the window where they started.
inline MolecularEnergy naive_mm(const TestSystem& system, const std::vector<double>& lattice,
                                const Placed& placed, int molecule) {
  MolecularEnergy sum;
  for (int other = 0; other < system.shape.molecules; ++other) {
    if (other == molecule) continue;
    const MolecularEnergy energy =
        naive_pair(system, placed, placed_molecule(system, lattice, other));
    sum.coulomb.add(energy.coulomb);
    sum.vdw.add(energy.vdw);
  }
  return sum;
}

/// Energies of every molecule's current position with the solute.
inline std::vector<double> naive_field_cache(const TestSystem& system,
                                             const std::vector<double>& lattice) {
  const auto padded = static_cast<std::size_t>(system.padded);
  std::vector<double> cache(FIELDS * padded, 0.0);
  for (int m = 0; m < system.shape.molecules; ++m) {
    const Placed placed = placed_molecule(system, lattice, m);
    const MolecularEnergy nuclei = naive_nuclei(system, placed);
    const auto index = static_cast<std::size_t>(m);
    cache[FIELD_QMMM_GRID * padded + index] = naive_grid(system, placed).value;
    cache[FIELD_QMMM_NUCLEI * padded + index] = nuclei.coulomb.value;
    cache[FIELD_QMMM_VDW * padded + index] = nuclei.vdw.value;
  }
  return cache;
}

inline Sum naive_potential(const TestSystem& system, const std::vector<double>& lattice,
                           const Vector& point) {
  Sum sum;
  for (int m = 0; m < system.shape.molecules; ++m) {
    const Placed placed = placed_molecule(system, lattice, m);
    for (int site = 0; site < system.topology().site_count(placed.type); ++site) {
      const double r = distance(site_position(system, placed, site), point, system.interaction);
      sum.add(charge_of(system, placed.type, site),
              coulomb_energy(r, system.interaction.coulomb_cutoff));
    }
  }
  return sum;
}

}  // namespace starpmc::test
