#pragma once

#include <span>
#include <string>
#include <vector>

#include "system/geometry.hpp"
#include "system/topology.hpp"

namespace starpmc {

/// Whether the [ settles ] and [ constraints ] of a molecule hold its atoms in one shape: a single
/// atom, every pair of atoms constrained, or no displacement of the atoms at these positions but a
/// translation or rotation of all keeps every constrained length to first order (the rigidity
/// matrix of n atoms has rank 3n - 6; Asimow and Roth, Trans. Am. Math. Soc. 245, 279 (1978)).
/// Virtual sites follow their atoms.
/// @param positions of all atoms and virtual sites, whole, angstrom
bool is_constrained_rigid(const MoleculeDefinition& molecule, std::span<const Vector3> positions);

/// What the user and the rest of the system say of an MM molecule.
struct MoleculeRole {
  bool named_rigid = false;       ///< by system.rigid
  bool may_be_qm = false;         ///< no other molecule is treated by quantum mechanics
  bool forgotten_solute = false;  ///< may be meant to be: the only one uncharged among charged ones
};

/// Sees to it that an MM molecule is meant to be rigid: its topology holds it in shape, or the user
/// has named it. What is assumed goes to `notes`, what is likely a mistake to `warnings`.
/// @throws InputError otherwise
void require_rigid(const MoleculeDefinition& molecule, std::span<const Vector3> positions,
                   const MoleculeRole& role, std::vector<std::string>& notes,
                   std::vector<std::string>& warnings);

}  // namespace starpmc
