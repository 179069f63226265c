#include "system/rigid_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/constants.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

/// Three points with these distances: a at the origin, b on the x axis, c in the upper xy plane.
std::array<Vector3, 3> triangle(double ab, double ac, double bc, const std::string& place) {
  const double x = (ab * ab + ac * ac - bc * bc) / (2 * ab);
  const double y_square = ac * ac - x * x;
  if (y_square < -1e-9 * ac * ac) {
    throw InputError(place, "the three constraints do not form a triangle",
                     fmt::format("{:g}, {:g}, {:g} nm", ab / kAngstromPerNanometre,
                                 ac / kAngstromPerNanometre, bc / kAngstromPerNanometre),
                     "no length may exceed the sum of the other two");
  }
  return {{{0, 0, 0}, {ab, 0, 0}, {x, std::sqrt(std::max(0.0, y_square)), 0}}};
}

/// Length of the constraint between two atoms, or 0.
double constraint_length(const MoleculeDefinition& molecule, std::size_t i, std::size_t j) {
  for (const Constraint& constraint : molecule.constraints) {
    if ((constraint.i == i && constraint.j == j) || (constraint.i == j && constraint.j == i)) {
      return constraint.length_angstrom;
    }
  }
  return 0;
}

bool place_settled(const MoleculeDefinition& molecule, std::span<const std::size_t> atoms,
                   std::span<Vector3> positions) {
  if (molecule.settles.size() != 1 || atoms.size() != 3) {
    return false;
  }
  const Settle& settle = molecule.settles.front();
  const std::size_t o = settle.oxygen;
  if (atoms[0] != o || atoms[1] != o + 1 || atoms[2] != o + 2) {
    return false;
  }
  const auto points =
      triangle(settle.oh_angstrom, settle.oh_angstrom, settle.hh_angstrom, settle.place);
  std::copy(points.begin(), points.end(), positions.begin() + static_cast<std::ptrdiff_t>(o));
  return true;
}

bool place_constrained(const MoleculeDefinition& molecule, std::span<const std::size_t> atoms,
                       std::span<Vector3> positions) {
  if (atoms.size() == 1) {
    positions[atoms[0]] = {};
    return true;
  }
  if (atoms.empty() || atoms.size() > 3) {
    return false;
  }
  const double ab = constraint_length(molecule, atoms[0], atoms[1]);
  if (ab == 0) {
    return false;
  }
  positions[atoms[0]] = {};
  positions[atoms[1]] = {ab, 0, 0};
  if (atoms.size() == 2) {
    return true;
  }
  const double ac = constraint_length(molecule, atoms[0], atoms[2]);
  const double bc = constraint_length(molecule, atoms[1], atoms[2]);
  if (ac == 0 || bc == 0) {
    return false;
  }
  positions[atoms[2]] = triangle(ab, ac, bc, molecule.constraints.front().place)[2];
  return true;
}

Vector3 unit(const Vector3& v, const VirtualSite& site) {
  const double length = norm(v);
  if (length < 1e-9) {
    throw InputError(site.place, "the virtual site's atoms coincide", "",
                     "correct the coordinates or the construction");
  }
  return (1 / length) * v;
}

/// GROMACS reference manual, "Virtual interaction sites"; lengths in the file are in nanometre.
Vector3 virtual_site_position(const VirtualSite& site, std::span<const Vector3> positions) {
  const std::vector<double>& p = site.parameters;
  const Vector3& i = positions[site.from[0]];
  const Vector3 ij = positions[site.from[1]] - i;
  if (site.from.size() == 2) {
    return site.function == 1 ? i + p[0] * ij : i + kAngstromPerNanometre * p[0] * unit(ij, site);
  }
  const Vector3 ik = positions[site.from[2]] - i;
  switch (site.function) {
    case 1:
      return i + p[0] * ij + p[1] * ik;
    case 2:
      return i + kAngstromPerNanometre * p[1] * unit(ij + p[0] * (ik - ij), site);
    case 4:
      return i + p[0] * ij + p[1] * ik + (p[2] / kAngstromPerNanometre) * cross(ij, ik);
    default:
      throw InputError(site.place, "this kind of virtual site is not supported",
                       std::to_string(site.function), "use function 1, 2 or 4 (3, 3fd, 3out)");
  }
}

}  // namespace

std::optional<std::vector<Vector3>> defined_geometry(const MoleculeDefinition& molecule) {
  std::vector<std::size_t> atoms;
  for (std::size_t i = 0; i < molecule.atoms.size(); ++i) {
    if (!molecule.is_virtual(i)) {
      atoms.push_back(i);
    }
  }
  std::vector<Vector3> positions(molecule.atoms.size());
  if (!place_settled(molecule, atoms, positions) &&
      !place_constrained(molecule, atoms, positions)) {
    return std::nullopt;
  }
  place_virtual_sites(molecule, positions);
  return positions;
}

void place_virtual_sites(const MoleculeDefinition& molecule, std::span<Vector3> positions) {
  std::vector<bool> placed(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    placed[i] = !molecule.is_virtual(i);
  }
  for (const VirtualSite& site : molecule.virtual_sites) {
    for (std::size_t from : site.from) {
      if (!placed[from]) {
        throw InputError(site.place,
                         "the virtual site is built from one that has not been placed yet",
                         molecule.atoms[from].name, "write the other site's line first");
      }
    }
    positions[site.site] = virtual_site_position(site, positions);
    placed[site.site] = true;
  }
}

void centre_on_mass(const MoleculeDefinition& molecule, std::span<Vector3> positions) {
  const bool weightless = std::all_of(molecule.atoms.begin(), molecule.atoms.end(),
                                      [](const TopologyAtom& atom) { return atom.mass == 0; });
  double total = 0;
  Vector3 sum;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const double weight = weightless ? 1 : molecule.atoms[i].mass;
    total += weight;
    sum = sum + weight * positions[i];
  }
  const Vector3 centre = (1 / total) * sum;
  for (Vector3& position : positions) {
    position = position - centre;
  }
}

std::vector<std::size_t> make_whole(const Box& box, std::span<Vector3> positions) {
  // Prim's spanning tree: bonded atoms are nearest neighbours, so no list of bonds is needed.
  constexpr double far = std::numeric_limits<double>::max();
  std::vector<double> nearest_square(positions.size(), far);
  std::vector<Vector3> nearest_image(positions.begin(), positions.end());
  std::vector<std::size_t> neighbours(positions.size());
  std::iota(neighbours.begin(), neighbours.end(), std::size_t{0});
  std::vector<std::size_t> left = neighbours;
  auto next = left.begin();
  while (!left.empty()) {
    const std::size_t placed = *next;
    positions[placed] = nearest_image[placed];
    left.erase(next);
    next = left.begin();
    for (auto i = left.begin(); i != left.end(); ++i) {
      const Vector3 d = box.minimum_image(positions[*i] - positions[placed]);
      if (dot(d, d) < nearest_square[*i]) {
        nearest_square[*i] = dot(d, d);
        nearest_image[*i] = positions[placed] + d;
        neighbours[*i] = placed;
      }
      if (nearest_square[*i] < nearest_square[*next]) {
        next = i;
      }
    }
  }
  return neighbours;
}

std::optional<OpenDistance> open_distance(const Box& box, std::span<const Vector3> written,
                                          std::span<const Vector3> whole,
                                          std::span<const std::size_t> neighbours) {
  constexpr double largest_share = 0.25;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::size_t j = neighbours[i];
    const Vector3 before = written[i] - written[j];
    const Vector3 after = whole[i] - whole[j];
    const auto is_open = [](double from, double to, double edge) {
      return std::abs(to - from) > edge / 2 && std::abs(to) > largest_share * edge;
    };
    if (is_open(before.x, after.x, box.lengths.x) || is_open(before.y, after.y, box.lengths.y) ||
        is_open(before.z, after.z, box.lengths.z)) {
      return OpenDistance{i, j, norm(before), norm(after)};
    }
  }
  return std::nullopt;
}

void check_constraint_lengths(const MoleculeDefinition& molecule,
                              std::span<const Vector3> positions) {
  constexpr double tolerance_angstrom = 0.05;
  for (const Constraint& constraint : molecule.constraints) {
    const double length = norm(positions[constraint.i] - positions[constraint.j]);
    if (constraint.length_angstrom > 0 &&
        std::abs(length - constraint.length_angstrom) > tolerance_angstrom) {
      throw InputError(constraint.place,
                       fmt::format("the coordinates of molecule {} have another length than this "
                                   "constraint's {:.3f} angstrom",
                                   molecule.name, constraint.length_angstrom),
                       fmt::format("{:.3f} angstrom", length),
                       "use coordinates made for this topology, or correct the length (nm)");
    }
  }
}

}  // namespace starpmc
