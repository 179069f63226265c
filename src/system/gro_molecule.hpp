#pragma once

#include <filesystem>

#include "system/gro_file.hpp"

namespace starpmc {

/// Reads a .gro file of one molecule, whole: one that is broken over the boundary of the file's
/// box is put together. Atoms that are linked to the others by steps of at most 2 angstrom as they
/// are written stay there, however narrow the box is.
/// @throws InputError naming file and line, also where the molecule's form stays open
GroFile read_gro_molecule(const std::filesystem::path& path);

}  // namespace starpmc
