#include "system/system.hpp"

#include <algorithm>

namespace starpmc {

double MoleculeType::radius_angstrom() const {
  double radius = 0;
  for (const Site& site : sites) {
    radius = std::max(radius, norm(site.reference));
  }
  return radius;
}

std::size_t System::max_sites() const {
  std::size_t most = 0;
  for (const MoleculeType& type : molecule_types) {
    most = std::max(most, type.sites.size());
  }
  return most;
}

Vector3 rotate(const Quaternion& q, const Vector3& v) {
  // v' = v + 2 w (u x v) + 2 u x (u x v), with u the vector part: exact for a unit quaternion.
  const Vector3 u{q.x, q.y, q.z};
  const Vector3 t = 2.0 * cross(u, v);
  return v + q.w * t + cross(u, t);
}

Vector3 site_position(const System& system, const Molecule& molecule, std::size_t site) {
  const Site& reference = system.molecule_types[molecule.type].sites[site];
  return molecule.centre + rotate(molecule.orientation, reference.reference);
}

}  // namespace starpmc
