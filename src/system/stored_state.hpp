#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "system/gro_file.hpp"
#include "system/system.hpp"
#include "system/topology.hpp"

namespace starpmc {

/// The positions that a run has left, in the numbers it computed with.
struct StoredState {
  std::filesystem::path path;  ///< for messages
  std::string title;
  Box box;
  std::vector<MoleculeType> types;  ///< names, and of their sites names and reference positions
  std::vector<Molecule> molecules;
  std::string solute_name;                ///< empty: there was none
  std::vector<std::string> solute_atoms;  ///< names that begin with the element
  std::vector<Vector3> solute_positions;  ///< angstrom
};

/// A stored state in the order of a topology.
struct OrderedState {
  static constexpr std::size_t kNoMolecule = static_cast<std::size_t>(-1);
  GroFile coordinates;
  /// Of each atom of `coordinates`: its molecule in the state; kNoMolecule: the QM molecule's.
  std::vector<std::size_t> molecules;
};

/// Molecules are found by the names of their moleculetypes, those of one name in their order; the
/// QM molecule of the run that left the state, too, whatever it is to be now. One that the state
/// does not have is left out: a QM molecule's coordinates may come from elsewhere.
/// @throws InputError where a molecule has another number of sites there
OrderedState ordered_by_topology(const StoredState& state, const TopologyFile& topology);

}  // namespace starpmc
