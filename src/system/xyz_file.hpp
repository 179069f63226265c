#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "system/geometry.hpp"

namespace starpmc {

/// Atoms of one molecule.
struct Geometry {
  std::string title;
  std::vector<std::string> elements;  ///< "C", "Cl", ...
  std::vector<Vector3> positions;     ///< angstrom
};

/// Reads an XYZ file of one frame (count, title, then element x y z in angstrom; further
/// columns are read over; an element may be given by its atomic number).
/// @throws InputError naming file and line
Geometry read_xyz(const std::filesystem::path& path);

struct XyzFrame {
  Geometry geometry;
  std::size_t line;  ///< of its number of atoms; the first is 1
};

/// All frames of an XYZ file, one or more; blank lines between them are read over.
/// @throws InputError naming file and line
std::vector<XyzFrame> read_xyz_frames(const std::filesystem::path& path);

/// Text of an XYZ file, 10 decimals.
std::string format_xyz(const Geometry& geometry);

/// Reads a molecule from .xyz or .gro of one frame, by the name's extension.
/// Elements of a .gro file are taken from the atom names: see elements_from_names().
/// @throws InputError naming file and line
Geometry read_geometry(const std::filesystem::path& path);

}  // namespace starpmc
