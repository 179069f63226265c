#pragma once

#include <optional>
#include <span>
#include <vector>

#include "system/geometry.hpp"
#include "system/system.hpp"
#include "system/topology.hpp"

namespace starpmc {

/// Positions (angstrom) of all atoms and virtual sites of a molecule, from its [ settles ] or
/// [ constraints ] and virtual sites; nothing where these do not define the geometry fully.
/// @throws InputError if the lengths contradict each other
std::optional<std::vector<Vector3>> defined_geometry(const MoleculeDefinition& molecule);

/// Puts the virtual sites where the atoms say (GROMACS manual, "Virtual interaction sites"; two
/// sites: functions 1 and 2; three sites: functions 1, 2 and 4 - 3, 3fd and 3out).
/// @throws InputError if a site is built from another virtual site after it, or from coinciding
/// ones
void place_virtual_sites(const MoleculeDefinition& molecule, std::span<Vector3> positions);

/// Moves the positions so that their centre of mass (their mean where no masses are given) is the
/// origin.
void centre_on_mass(const MoleculeDefinition& molecule, std::span<Vector3> positions);

/// Makes a molecule whole that was broken over the periodic boundary: every atom is moved to the
/// image nearest to an atom already placed, the nearest atoms first.
void make_whole(const Box& box, std::span<Vector3> positions);

}  // namespace starpmc
