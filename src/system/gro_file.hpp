#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "system/geometry.hpp"

namespace starpmc {

/// One atom line of a .gro file.
struct GroAtom {
  int residue_number = 1;  ///< 0 where the file has no number
  std::string residue_name;
  std::string atom_name;
  Vector3 position;      ///< angstrom (nanometre in the file)
  std::size_t line = 0;  ///< line in the file, 0 where it was not read from one
};

/// The first frame of a .gro file.
struct GroFile {
  std::filesystem::path path;
  std::string title;
  std::vector<GroAtom> atoms;
  Box box;
  std::size_t frames = 1;  ///< of the file
};

/// Reads the first frame of a GROMACS .gro file: fixed columns, any number of decimals (taken from
/// the distance between the decimal points, as GROMACS does), velocities read over, orthorhombic
/// box.
/// @throws InputError naming file and line
GroFile read_gro(const std::filesystem::path& path);

/// Whether a run of this program has left the file: it calls the QM molecule's atoms by their
/// elements and numbers.
bool is_of_a_run(const GroFile& file);

/// A warning that only the first frame is read.
std::string describe_more_frames(const std::filesystem::path& path);

/// Text of a .gro file.
/// @param decimals digits after the decimal point, in nanometre
std::string format_gro(std::string_view title, std::span<const GroAtom> atoms, const Box& box,
                       int decimals);

}  // namespace starpmc
