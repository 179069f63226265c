#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "system/elements.hpp"
#include "system/geometry.hpp"

namespace starpmc {

/// Elements that an atom name can stand for: the symbol its first two letters make and that of its
/// first letter ("CA": Ca or C; "HB1": H; "1HG": Hg or H; "MW": none). A small second letter
/// settles it ("Cl2": Cl).
std::vector<const Element*> elements_in_name(std::string_view atom_name);

/// Elements of an atom of which name and residue are all that is known, one where they tell: an ion
/// has its residue's name, CL and BR begin no other names, and amino acids have no metals. Else as
/// above.
std::vector<const Element*> elements_without_mass(std::string_view atom_name,
                                                  std::string_view residue);

/// "Ca or C"; "no element" for none.
std::string element_choice(std::span<const Element* const> choice);

/// A molecule's elements from its atoms' names alone. Where a name can stand for two elements, one
/// of them must be impossible by its distance from the nearest other atom: nearer than three
/// quarters of the sum of the covalent radii, a noble gas with a bond, or H, B, C, N, P, S, Si
/// without one.
/// @param places file:line of each atom, for messages
/// @throws InputError where a name stands for no element, or two remain
std::vector<const Element*> elements_from_names(std::span<const std::string> names,
                                                std::span<const Vector3> positions,
                                                std::span<const std::string> places);

}  // namespace starpmc
