#pragma once

#include <span>
#include <string>
#include <vector>

#include "system/system.hpp"

namespace starpmc {

/// One particle of the trajectory.
struct ParticleLabel {
  std::string name;
  std::string residue;
  std::size_t residue_number = 0;  ///< from 1; the solute is the first if there is one
  std::string element;             ///< empty for a virtual site
  int atomic_number = 0;           ///< 0 for a virtual site
  double mass = 0;                 ///< g/mol
  double charge = 0;               ///< elementary charges; 0 for solute atoms
};

/// The particles in the order of trajectory.h5md and system.pdb: solute atoms, then the sites of
/// the MM molecules in the system's order, virtual sites included.
std::vector<ParticleLabel> particle_labels(const System& system);

/// Their positions in angstrom as x, y, z, x, ...; molecules are whole, their centres in the box.
/// @param molecules as many as the system has
std::vector<double> particle_positions(const System& system, std::span<const Molecule> molecules);

}  // namespace starpmc
