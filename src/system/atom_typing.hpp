#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "system/xyz_file.hpp"

namespace starpmc {

/// Bonded neighbours of every atom: those nearer than the sum of the covalent radii + 0.4 angstrom.
std::vector<std::vector<std::size_t>> bonded_neighbours(const Geometry& geometry);

/// A Lennard-Jones type and how sure it is.
struct AssignedType {
  std::string name;
  bool is_guess = false;  ///< the table has no rule for just this neighbourhood
  std::string comment;    ///< of the rule
};

/// Lennard-Jones types of a molecule's atoms by the rules of a table
/// (src/system/data/opls_types.txt explains the syntax).
/// @throws InputError if the table cannot be understood (file:line) or no rule matches an atom
std::vector<AssignedType> assign_atom_types(const Geometry& geometry,
                                            const std::filesystem::path& table);

}  // namespace starpmc
