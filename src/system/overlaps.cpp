#include "system/overlaps.hpp"

#include <cmath>

#include "system/contacts.hpp"

namespace starpmc {
namespace {

constexpr double nearest_solute_contact_angstrom = 0.5;
constexpr double nearest_contact_angstrom = 0.3;
// A hydrogen atom is about 1 A from the site that is kept away for it.
constexpr double nearest_repelled_angstrom = nearest_solute_contact_angstrom + 1;
constexpr double least_repulsion_kj_per_mol = 100;

/// Whether an atom's van der Waals repulsion keeps molecules away. One that is grown from nothing
/// along a path, or a hydrogen atom without any, may have a site lie on it.
bool repels(const ForceField& force_field, std::size_t type) {
  const double least_c12 = least_repulsion_kj_per_mol * std::pow(nearest_repelled_angstrom, 12);
  for (std::size_t other = 0; other < force_field.type_count(); ++other) {
    if (force_field.pair(type, other).c12 > least_c12) return true;
  }
  return false;
}

}  // namespace

std::vector<Overlap> overlaps(const System& system) {
  std::vector<Vector3> points;
  std::vector<std::size_t> owners;
  for (std::size_t m = 0; m < system.molecules.size(); ++m) {
    const Molecule& molecule = system.molecules[m];
    for (std::size_t s = 0; s < system.molecule_types[molecule.type].sites.size(); ++s) {
      points.push_back(site_position(system, molecule, s));
      owners.push_back(m);
    }
  }
  const std::size_t solute_owner = system.molecules.size();
  if (system.solute) {
    for (std::size_t i = 0; i < system.solute->atom_count(); ++i) {
      if (repels(system.force_field, system.solute->types[i])) {
        points.push_back(system.solute->positions[i]);
      }
    }
    owners.resize(points.size(), solute_owner);
  }
  std::vector<Overlap> found;
  for (const Contact& contact :
       find_contacts(system.box, points, owners, nearest_solute_contact_angstrom)) {
    const std::size_t a = owners[contact.i];
    const std::size_t b = owners[contact.j];
    if (b == solute_owner || contact.distance < nearest_contact_angstrom) {
      found.push_back({a, b, contact.distance});
    }
  }
  return found;
}

}  // namespace starpmc
