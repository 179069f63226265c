#include "io/site_order.hpp"

#include <fmt/format.h>

#include <cmath>

#include "system/elements.hpp"

namespace starpmc {
namespace {

/// What takes a point into the box: [0, edge) along each axis.
Vector3 wrapping_shift(const Box& box, const Vector3& point) {
  return {-box.lengths.x * std::floor(point.x / box.lengths.x),
          -box.lengths.y * std::floor(point.y / box.lengths.y),
          -box.lengths.z * std::floor(point.z / box.lengths.z)};
}

void append(std::vector<double>& positions, const Vector3& point) {
  positions.insert(positions.end(), {point.x, point.y, point.z});
}

}  // namespace

std::vector<ParticleLabel> particle_labels(const System& system) {
  std::vector<ParticleLabel> labels;
  std::size_t residue_number = 0;
  if (system.solute) {
    const Solute& solute = *system.solute;
    ++residue_number;
    for (std::size_t i = 0; i < solute.atom_count(); ++i) {
      const Element* element = element_by_number(solute.atomic_numbers[i]);
      labels.push_back({fmt::format("{}{}", solute.elements[i], i + 1), solute.name, residue_number,
                        solute.elements[i], solute.atomic_numbers[i],
                        element == nullptr ? 0 : element->mass, 0});
    }
  }
  for (const Molecule& molecule : system.molecules) {
    const MoleculeType& type = system.molecule_types[molecule.type];
    ++residue_number;
    for (const Site& site : type.sites) {
      const Element* element = element_by_symbol(site.element);
      labels.push_back({site.name, type.name, residue_number, site.element,
                        element == nullptr ? 0 : element->atomic_number, site.mass, site.charge});
    }
  }
  return labels;
}

std::vector<double> particle_positions(const System& system, std::span<const Molecule> molecules) {
  std::vector<double> positions;
  if (system.solute)
    for (const Vector3& position : system.solute->positions) append(positions, position);
  for (const Molecule& molecule : molecules) {
    const Vector3 shift = wrapping_shift(system.box, molecule.centre);
    for (std::size_t i = 0; i < system.molecule_types[molecule.type].sites.size(); ++i)
      append(positions, site_position(system, molecule, i) + shift);
  }
  return positions;
}

}  // namespace starpmc
