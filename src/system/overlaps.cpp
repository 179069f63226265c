#include "system/overlaps.hpp"

#include "system/contacts.hpp"

namespace starpmc {
namespace {

constexpr double nearest_solute_contact_angstrom = 0.5;
constexpr double nearest_contact_angstrom = 0.3;

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
    points.insert(points.end(), system.solute->positions.begin(), system.solute->positions.end());
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
