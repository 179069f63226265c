#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "system/system.hpp"

namespace starpmc {

/// What read_system() reads.
struct SystemFiles {
  std::filesystem::path coordinates;  ///< .gro
  std::filesystem::path topology;     ///< .top
  std::filesystem::path solute;       ///< optional .xyz or .gro with the QM molecule's coordinates
  std::string qm_molecule;            ///< moleculetype name of the QM molecule; empty: pure MM
  std::vector<std::string> defines;   ///< preprocessor symbols ("FLEXIBLE", "NAME=VALUE")
  std::vector<std::filesystem::path> include_folders;  ///< searched before GROMACS's share/top
  std::vector<std::string> rigid = {};  ///< moleculetypes kept rigid though nothing constrains them
  std::vector<std::string> elements = {};  ///< stated elements of QM atoms: see solute_elements()
};

/// Reads, checks and assembles a system.
/// Positions are taken from the .gro file (nanometre there, angstrom here); the geometry of a rigid
/// molecule comes from its [settles] or [constraints] and virtual sites where they define it fully,
/// otherwise from its first instance, and each instance is fitted onto its coordinates. An MM
/// molecule that its [settles] and [constraints] do not hold in shape must be named in `rigid`.
/// @throws InputError naming file and line
System read_system(const SystemFiles& files);

}  // namespace starpmc
