#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "system/elements.hpp"
#include "system/geometry.hpp"
#include "system/topology.hpp"

namespace starpmc {

/// Whether names of atoms or residues are the same: in any case, and as far as a .gro file's five
/// columns hold them.
bool same_name(std::string_view a, std::string_view b);

/// The first atom whose name in coordinates is not that of the topology; virtual sites do not
/// count.
/// @param names of all atoms in the coordinates
std::optional<std::size_t> first_other_name(const MoleculeDefinition& molecule,
                                            std::span<const std::string> names);

/// Whether a charge of the topology's is of any account.
enum class Charges { used, unused };

/// The first atom whose name in coordinates is that of an atom of another type, mass or charge,
/// where the names are those of the topology in another order: names alone may differ, but then not
/// be the same.
std::optional<std::size_t> first_misplaced(const MoleculeDefinition& molecule,
                                           std::span<const std::string> names, Charges charges);

/// @param name in the coordinates
/// @throws InputError saying so of an atom whose place is another one
[[noreturn]] void refuse_order(const MoleculeDefinition& molecule, std::size_t atom,
                               std::string_view place, std::string_view name);

/// Compares coordinates with the topology's [ bonds ], which a reaction breaks a few of.
/// @param elements of the atoms
/// @param places   of the atoms in the file of the coordinates
/// @return a warning where many bonds are too long, or two or more are and none with two atoms of
/// one
///         element and different types exchanged: a reaction may have done that, too
std::optional<std::string> check_bonds(const MoleculeDefinition& molecule,
                                       std::span<const Element* const> elements,
                                       std::span<const Vector3> positions,
                                       std::span<const std::string> places);

}  // namespace starpmc
