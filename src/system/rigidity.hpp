#pragma once

#include <span>

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

}  // namespace starpmc
