#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "system/geometry.hpp"
#include "system/solute_elements.hpp"
#include "system/system.hpp"

namespace starpmc {

/// What take_solute_file() refuses of a file by itself.
/// @throws InputError naming file and line
void check_solute_file(const std::filesystem::path& path);

/// Takes the QM molecule's coordinates, with more digits, from an .xyz or .gro file of their own.
/// A .gro file's molecule that is broken over the boundary of the file's box is made whole.
/// @param solute positions as the box's coordinates have them, or none; replaced
/// @param named  one list for each atom of the topology; what the file tells is added (the elements
///               of an .xyz file, the names of a .gro file)
/// @param warnings what is allowed but likely a mistake is added
/// @throws InputError naming file and line if the file cannot be read, has another number of atoms
///         or another order of their names, atoms elsewhere, or is broken where the coordinates are
///         not
void take_solute_file(const std::filesystem::path& path, const Box& box,
                      const MoleculeDefinition& molecule, Solute& solute,
                      std::span<std::vector<NamedAtom>> named, std::vector<std::string>& warnings);

}  // namespace starpmc
