#pragma once

#include <cstddef>
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
/// @return for each atom the one it was placed beside; for the first atom itself
std::vector<std::size_t> make_whole(const Box& box, std::span<Vector3> positions);

/// Two neighbouring atoms that the periodic boundary leaves at either of two distances.
struct OpenDistance {
  std::size_t atom = 0;
  std::size_t neighbour = 0;
  double as_written_angstrom = 0;
  double nearest_image_angstrom = 0;
};

/// The first atom that make_whole() moved by an edge although it then lies more than a quarter of
/// the edge from its neighbour: a molecule that was broken over the boundary and a long one that
/// was written whole look the same there.
/// @param neighbours of make_whole()
std::optional<OpenDistance> open_distance(const Box& box, std::span<const Vector3> written,
                                          std::span<const Vector3> whole,
                                          std::span<const std::size_t> neighbours);

/// Compares the lengths of [ constraints ] with a geometry that was taken from coordinates.
/// @throws InputError if one differs by more than 0.05 angstrom
void check_constraint_lengths(const MoleculeDefinition& molecule,
                              std::span<const Vector3> positions);

}  // namespace starpmc
