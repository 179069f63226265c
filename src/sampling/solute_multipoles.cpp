#include "sampling/solute_multipoles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/layout.h"

namespace starpmc {

SoluteMultipoles::SoluteMultipoles(const System& system, const DensityGrid& grid) {
  const Solute& solute = *system.solute;
  for (std::size_t a = 0; a < solute.atom_count(); ++a) {
    atoms_.push_back({solute.positions[a], static_cast<double>(solute.atomic_numbers[a])});
  }
  for (std::size_t p = 0; p < grid.size(); ++p) {
    const Vector3 point{grid.x[p], grid.y[p], grid.z[p]};
    Atom* nearest = nullptr;
    Vector3 from_nearest;
    double least = std::numeric_limits<double>::infinity();
    for (Atom& atom : atoms_) {
      const Vector3 d = system.box.minimum_image(point - atom.position);
      if (const double squared = dot(d, d); squared < least) {
        least = squared;
        nearest = &atom;
        from_nearest = d;
      }
    }
    if (nearest == nullptr) continue;
    nearest->charge += grid.charge[p];
    nearest->dipole = nearest->dipole + grid.charge[p] * from_nearest;
  }
}

/// Of q and p at a nucleus, in units of Coulomb's constant: q V(r) - p . d V'(r)/r with
/// V = (1 - r/rc)^2/r.
double SoluteMultipoles::potential(const Box& box, const Vector3& at, double cutoff) const {
  double sum = 0;
  for (const Atom& atom : atoms_) {
    const Vector3 d = box.minimum_image(at - atom.position);
    const double r2 = std::max(dot(d, d), STARPMC_MINIMUM_DISTANCE_SQUARED);
    if (!(r2 < cutoff * cutoff)) continue;
    const double r = std::sqrt(r2);
    const double remaining = 1 - r / cutoff;
    const double slope = 1 / (cutoff * cutoff) - 1 / r2;
    sum += atom.charge * remaining * remaining / r - dot(atom.dipole, d) * slope / r;
  }
  return sum;
}

double SoluteMultipoles::energy_kj_per_mol(const System& system,
                                           const std::vector<Molecule>& molecules,
                                           double cutoff_angstrom) const {
  double sum = 0;
  for (const Molecule& molecule : molecules) {
    const std::vector<Site>& sites = system.molecule_types[molecule.type].sites;
    for (std::size_t s = 0; s < sites.size(); ++s) {
      if (sites[s].charge == 0) continue;
      const Vector3 at = site_position(system, molecule, s);
      sum += sites[s].charge * potential(system.box, at, cutoff_angstrom);
    }
  }
  return STARPMC_COULOMB_CONSTANT * sum;
}

}  // namespace starpmc
