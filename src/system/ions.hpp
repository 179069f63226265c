#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "system/geometry.hpp"
#include "system/topology.hpp"

namespace starpmc {

/// Ions of one kind, as GROMACS's oplsaa.ff/ions.itp has them.
struct Ions {
  std::string molecule;  ///< "NA"
  std::string atom;      ///< its atom's name
  std::string type;      ///< "opls_407"
  int charge = 0;        ///< elementary charges
  std::size_t count = 0;
};

/// What `--ions NaCl:0.15` asks for.
struct Salt {
  Ions cations;  ///< counts are those of one formula unit
  Ions anions;
  double mol_per_litre = 0;
};

/// "NaCl:0.15", "MgCl2:0": formula and concentration.
/// @param known the ions there are
/// @throws InputError naming --ions
Salt parse_salt(std::string_view text, std::span<const MoleculeDefinition> known);

/// Numbers of cations and anions: the salt at its concentration in the box's volume, and as many of
/// either kind more as it takes to neutralise the solute, as GROMACS's `genion -neutral -conc`.
/// @throws InputError where the salt's charges cannot
std::vector<Ions> count_ions(const Salt& salt, double volume_cubic_angstrom, int solute_charge);

/// Waters to be replaced by ions, in random order: each at least `distance` (angstrom) from the
/// solute's atoms and from the others.
/// @param sites of each water, the one first that the ion takes the place of
/// @throws InputError where there are not so many
std::vector<std::size_t> choose_waters(const Box& box, std::span<const Vector3> solute,
                                       std::span<const std::vector<Vector3>> waters,
                                       std::size_t count, double distance, std::uint64_t seed);

}  // namespace starpmc
