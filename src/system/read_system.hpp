#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/input_errors.hpp"
#include "system/stored_state.hpp"
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
  const StoredState* state = nullptr;      ///< takes the place of `coordinates` where there is one
  /// As other coordinates of the same topology have made it: a geometry that is not defined without
  /// coordinates is the one there. Null: these are the first.
  const System* first = nullptr;
  std::optional<int> qm_charge{};  ///< of the QM molecule, to be compared with the topology's
};

/// The molecules as the topology lists them: indices into System::molecules, which are sorted by
/// type, and kSolutePlace where the QM molecule is.
using MoleculeOrder = std::vector<std::size_t>;
inline constexpr std::size_t kSolutePlace = static_cast<std::size_t>(-1);

/// Reads, checks and assembles a system.
/// Positions are taken from the .gro file (nanometre there, angstrom here); the geometry of a rigid
/// molecule comes from its [settles] or [constraints] and virtual sites where they define it fully,
/// otherwise from its first instance (that of `first` where it is given), and each instance is
/// fitted onto its coordinates; one of a stored state that has the same geometry there keeps its
/// numbers. An MM molecule that its [settles] and [constraints] do not hold in shape must be named
/// in `rigid`.
/// @param order if not null, is given the topology's
/// @throws InputError naming file and line
System read_system(const SystemFiles& files, MoleculeOrder* order = nullptr);

/// Whether the files can be read, each by itself; those that are empty are left out.
/// @return the box, where the coordinates have one
std::optional<Box> check_system_files(const SystemFiles& files, InputErrors& errors);

/// @param files  those that are empty are missing: the others are read for their errors
/// @param errors of each file, of each kind of molecule, of each overlap of the first ten
/// @param box    set as soon as it is known
/// @param order  if not null, is given the topology's
/// @return nothing where there are errors
std::optional<System> read_system(const SystemFiles& files, InputErrors& errors,
                                  std::optional<Box>& box, MoleculeOrder* order = nullptr);

}  // namespace starpmc
