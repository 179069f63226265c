#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "system/ions.hpp"

namespace starpmc {

/// A solvated system to make.
struct SolvateRequest {
  std::filesystem::path solute;         ///< .xyz or .gro; empty: pure water
  std::optional<long> waters;           ///< either this ...
  std::optional<double> edge_angstrom;  ///< ... or the cube's edge
  std::string model = "tip3p";          ///< tip3p, spc, spce or tip4p
  std::filesystem::path output;         ///< the files' name without .gro and .top
  int charge = 0;                       ///< of the solute, -1000 to 1000; noted in the topology
  std::string ions;                  ///< "NaCl:0.15": salt in mol/L, and counter-ions; empty: none
  double ion_distance_angstrom = 6;  ///< of ions from the solute and each other
  std::uint64_t seed = 1;
  std::filesystem::path table;  ///< rules for atom types; empty: the built-in table
  bool overwrite = false;
};

/// An atom of the solute and the Lennard-Jones type it got.
struct SoluteAtomType {
  std::string atom;
  std::string type;
  bool is_guess = false;
  std::string comment;
};

/// What has been written.
struct SolvatedFiles {
  std::filesystem::path coordinates;
  std::filesystem::path topology;
  std::string qm_molecule;  ///< the solute's moleculetype; empty for pure water
  std::size_t solute_atoms = 0;
  std::vector<SoluteAtomType> solute_types;
  int solute_electrons = 0;  ///< with the charge asked for
  std::size_t waters = 0;    ///< without those that ions have replaced
  std::vector<Ions> ions;
  double edge_angstrom = 0;
};

/// Puts the solute into a cube of water and writes coordinates (.gro) and topology (.top), which
/// includes GROMACS's oplsaa.ff. Water and parameters come from GROMACS's data. Earlier files of
/// these names are replaced when the new ones have been read back; until then nothing of theirs
/// changes.
/// @throws InputError for a bad request or missing data; RunError if nothing can be written
SolvatedFiles write_solvated_files(const SolvateRequest& request);

}  // namespace starpmc
