#pragma once

#include <span>
#include <string>
#include <vector>

#include "system/elements.hpp"
#include "system/topology.hpp"

namespace starpmc {

/// What an atom of the QM molecule is called where its coordinates come from.
struct NamedAtom {
  std::string name;                  ///< .gro; empty: not told
  const Element* element = nullptr;  ///< .xyz; null: not told
  std::string place;                 ///< file:line
};

/// Elements of a molecule's atoms. What is stated counts; else the .xyz file's element, else the
/// type's atomic number, else the names in topology and .gro and, among the elements a name can
/// stand for ("CA"), the mass. All that is given must agree: names may stand for several elements
/// or none; a mass may be smaller than the element's by what hydrogens can have taken
/// (repartitioned masses) where the type has an atomic number, but not larger (a united atom).
/// @param types       of the atoms
/// @param coordinates one or more witnesses for each atom
/// @param stated      "NAME=ELEMENT" or "NUMBER=ELEMENT" (qm.elements)
/// @throws InputError naming file, line and atom, all values found and the remedy
std::vector<const Element*> solute_elements(const MoleculeDefinition& molecule,
                                            std::span<const AtomType* const> types,
                                            std::span<const std::vector<NamedAtom>> coordinates,
                                            std::span<const std::string> stated);

}  // namespace starpmc
