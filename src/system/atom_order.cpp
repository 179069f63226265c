#include "system/atom_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/error.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr std::size_t columns_of_a_name = 5;
constexpr std::size_t most_broken_by_reactions = 2;
constexpr std::size_t least_part_of_bonds = 4;

std::string compared(std::string_view name) {
  return lower_case(name.substr(0, columns_of_a_name));
}

class Bonds {
 public:
  Bonds(const MoleculeDefinition& molecule, std::span<const Element* const> elements,
        std::span<const Vector3> positions)
      : molecule_(molecule), elements_(elements), positions_(positions.begin(), positions.end()) {}

  /// Atoms of the bonds that are too long, once for each.
  std::vector<std::size_t> broken_atoms() const {
    std::vector<std::size_t> atoms;
    for (const Bond& bond : molecule_.bonds) {
      if (is_broken(bond)) atoms.insert(atoms.end(), {bond.i, bond.j});
    }
    return atoms;
  }

  /// Whether no bond is too long with two atoms exchanged.
  bool whole_with_exchanged(std::size_t i, std::size_t j) {
    std::swap(positions_[i], positions_[j]);
    const bool whole =
        std::ranges::none_of(molecule_.bonds, [this](const Bond& bond) { return is_broken(bond); });
    std::swap(positions_[i], positions_[j]);
    return whole;
  }

 private:
  bool is_broken(const Bond& bond) const {
    return norm(positions_[bond.i] - positions_[bond.j]) >
           elements_[bond.i]->covalent_radius_angstrom +
               elements_[bond.j]->covalent_radius_angstrom + kBondToleranceAngstrom;
  }

  const MoleculeDefinition& molecule_;
  std::span<const Element* const> elements_;
  std::vector<Vector3> positions_;
};

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return a == b || compared(a) == compared(b);
}

std::optional<std::size_t> first_other_name(const MoleculeDefinition& molecule,
                                            std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!same_name(names[i], molecule.atoms[i].name) && !molecule.is_virtual(i)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_misplaced(const MoleculeDefinition& molecule,
                                           std::span<const std::string> names, Charges charges) {
  if (!first_other_name(molecule, names)) return std::nullopt;
  std::vector<std::size_t> atoms;
  std::vector<std::string> here;
  std::vector<std::string> there;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (molecule.is_virtual(i)) continue;
    atoms.push_back(i);
    here.push_back(compared(names[i]));
    there.push_back(compared(molecule.atoms[i].name));
  }
  std::vector<std::string> sorted_here = here;
  std::vector<std::string> sorted_there = there;
  std::ranges::sort(sorted_here);
  std::ranges::sort(sorted_there);
  if (sorted_here != sorted_there) return std::nullopt;
  const auto alike = [&](const TopologyAtom& a, const TopologyAtom& b) {
    return a.type == b.type && a.mass == b.mass &&
           (charges == Charges::unused || a.charge == b.charge);
  };
  for (std::size_t k = 0; k < atoms.size(); ++k) {
    if (here[k] == there[k]) continue;
    for (std::size_t l = 0; l < atoms.size(); ++l) {
      if (there[l] == here[k] && !alike(molecule.atoms[atoms[k]], molecule.atoms[atoms[l]])) {
        return atoms[k];
      }
    }
  }
  return std::nullopt;
}

void refuse_order(const MoleculeDefinition& molecule, std::size_t atom, std::string_view place,
                  std::string_view name) {
  throw InputError(
      place,
      fmt::format("atom {} of molecule {} is '{}' in the topology ({})", atom + 1, molecule.name,
                  molecule.atoms[atom].name, molecule.atoms[atom].place),
      name, "list the molecules and atoms in the same order in both files");
}

std::optional<std::string> check_bonds(const MoleculeDefinition& molecule,
                                       std::span<const Element* const> elements,
                                       std::span<const Vector3> positions,
                                       std::span<const std::string> places) {
  Bonds bonds(molecule, elements, positions);
  const std::vector<std::size_t> atoms = bonds.broken_atoms();
  const std::size_t broken = atoms.size() / 2;
  if (broken < 2) return std::nullopt;
  const std::string found =
      fmt::format("{} of the {} [ bonds ] of molecule {} ({}) are longer than bonds are", broken,
                  molecule.bonds.size(), molecule.name, molecule.bonds.front().place);
  for (const std::size_t i : atoms) {
    for (std::size_t j = 0; j < elements.size(); ++j) {
      const TopologyAtom& one = molecule.atoms[i];
      const TopologyAtom& other = molecule.atoms[j];
      if (elements[i] != elements[j] || one.type == other.type) continue;
      if (!bonds.whole_with_exchanged(i, j)) continue;
      return fmt::format(
          "{}: {}, but none with atoms {} ({}) and {} ({}) exchanged: unless a reaction has "
          "exchanged "
          "them, list the atoms in the topology's order",
          places[i], found, i + 1, one.name, j + 1, other.name);
    }
  }
  if (broken <= most_broken_by_reactions || least_part_of_bonds * broken <= molecule.bonds.size()) {
    return std::nullopt;
  }
  return fmt::format("{}: {}: see that the atoms are in the topology's order", places[atoms[0]],
                     found);
}

}  // namespace starpmc
