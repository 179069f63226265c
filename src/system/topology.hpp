#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace starpmc {

/// [ defaults ] comb-rule.
enum class CombinationRule {
  geometric_c6_c12 = 1,         ///< c6 and c12 given; geometric means of both
  lorentz_berthelot = 2,        ///< sigma arithmetic, epsilon geometric
  geometric_sigma_epsilon = 3,  ///< sigma and epsilon given; geometric means of both (OPLS)
};

/// The two van der Waals parameters as the file gives them: c6 (kJ/mol nm^6) and c12
/// (kJ/mol nm^12) with rule 1, else sigma (nm) and epsilon (kJ/mol).
struct VdwParameters {
  double first = 0;
  double second = 0;
};

/// One line of [ atomtypes ].
struct AtomType {
  std::string name;
  int atomic_number = 0;  ///< 0 where the file gives none
  double mass = 0;        ///< g/mol
  double charge = 0;
  bool is_virtual = false;
  VdwParameters vdw;
  std::string place;
  std::string other_charge_place;  ///< where it is given once more, with another charge; or empty
};

/// One line of [ nonbond_params ].
struct PairParameters {
  std::string type_i;
  std::string type_j;
  VdwParameters vdw;
  std::string place;
};

/// One line of [ atoms ].
struct TopologyAtom {
  std::string name;
  std::string type;
  double charge = 0;  ///< of the type, where the line gives none
  double mass = 0;    ///< of the type, where the line gives none
  std::string place;
  std::string residue{};
};

/// One line of [ settles ]: atom `oxygen` and the two after it.
struct Settle {
  std::size_t oxygen = 0;
  double oh_angstrom = 0;
  double hh_angstrom = 0;
  std::string place;
};

/// One line of [ constraints ].
struct Constraint {
  std::size_t i = 0;
  std::size_t j = 0;
  double length_angstrom = 0;  ///< 0 where it is left to [ constrainttypes ]
  std::string place;
};

/// One line of [ bonds ], but for those that are restraints (functions 6 and 10).
struct Bond {
  std::size_t i = 0;
  std::size_t j = 0;
  std::string place;
};

/// One line of [ virtual_sites2 ] or [ virtual_sites3 ].
struct VirtualSite {
  std::size_t site = 0;
  std::vector<std::size_t> from;  ///< 2 or 3 atoms
  long function = 1;
  std::vector<double> parameters;  ///< as in the file (a, b; distances in nm)
  std::string place;
};

/// A [ moleculetype ] and its sections. Atom indices count from 0.
struct MoleculeDefinition {
  std::string name;
  std::string place;
  std::vector<TopologyAtom> atoms;
  std::vector<Settle> settles;
  std::vector<Constraint> constraints;
  std::vector<Bond> bonds;
  std::vector<VirtualSite> virtual_sites;
  std::string bonded_section;  ///< first one with an entry ("bonds", "angles"), else empty
  std::string bonded_place;
  std::string external_section;  ///< first external potential with an entry, else empty
  std::string external_place;
  std::string unsupported_section;  ///< name of one this program cannot honour, else empty
  std::string unsupported_place;

  bool is_virtual(std::size_t atom) const;
  /// Whether any atom or site has a charge.
  bool is_charged() const;
};

/// One line of [ molecules ].
struct MoleculeCount {
  std::size_t definition = 0;  ///< index into TopologyFile::definitions
  std::size_t count = 0;
  std::string place;
};

/// What a topology says about a system of rigid molecules.
struct TopologyFile {
  std::filesystem::path path;
  std::string title;
  CombinationRule combination_rule = CombinationRule::geometric_sigma_epsilon;
  std::map<std::string, AtomType, std::less<>> atom_types;
  std::vector<PairParameters> pair_parameters;
  std::vector<MoleculeDefinition> definitions;
  std::vector<MoleculeCount> molecules;

  /// Index of a moleculetype: the exact name, else the same name in another case (as GROMACS).
  /// @throws InputError at `place`, suggesting the nearest name, or naming several in another case
  std::size_t definition_index(std::string_view name, std::string_view place) const;
};

/// Reads a GROMACS topology (.top, .itp); see preprocess() for includes and defines.
/// Sections that do not matter to rigid molecules are read over; unknown ones are errors.
/// @throws InputError naming file and line
TopologyFile read_topology(const std::filesystem::path& file, std::span<const std::string> defines,
                           std::span<const std::filesystem::path> include_folders);

/// Reads the [ atomtypes ] of a file that is no complete topology, such as a force field's
/// forcefield.itp.
/// @throws InputError naming file and line
std::map<std::string, AtomType, std::less<>> read_atom_types(const std::filesystem::path& file);

/// Reads the moleculetypes of a file that is no complete topology, such as a water's tip3p.itp.
/// @throws InputError naming file and line
std::vector<MoleculeDefinition> read_molecule_definitions(const std::filesystem::path& file);

}  // namespace starpmc
