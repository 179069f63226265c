#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "system/geometry.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {

/// An equilibrated periodic box of water to cut from: rigid molecules of one model.
struct WaterBox {
  Box box;
  std::vector<std::string> elements;  ///< of the model's sites; empty for a virtual site
  std::vector<Vector3> reference;     ///< the model's sites in the body frame, oxygen first
  std::vector<Vector3> centres;       ///< one for each molecule, in the box
  std::vector<Quaternion> orientations;

  double volume_per_molecule() const { return box.volume() / static_cast<double>(centres.size()); }
};

/// A solute in water.
struct SolvatedBox {
  Box box;
  std::vector<Vector3> solute;               ///< centred in the box
  std::vector<std::vector<Vector3>> waters;  ///< sites of each molecule
  std::vector<Vector3> ions;                 ///< in place of waters
};

/// Volume (angstrom^3) a solute takes from the liquid: the union of its van der Waals spheres
/// widened by 0.4 angstrom.
double excluded_volume(const Geometry& solute);

/// Edge (angstrom) of the cube that holds so many waters and the solute at the liquid's density.
double cube_edge(const WaterBox& water, const Geometry& solute, std::size_t waters);

/// Number of waters that fill a cube around the solute at the liquid's density.
std::size_t waters_in_cube(const WaterBox& water, const Geometry& solute, double edge_angstrom);

/// Cuts a cube with exactly `waters` molecules out of the replicated water box, around the centred
/// solute. Waters overlapping most are left out; the few contacts that remain at the cut faces are
/// pushed apart, so that the density stays the liquid's. The same seed gives the same box.
/// @param solute may hold no atoms
/// @throws InputError if the solute does not fit; RunError if contacts cannot be resolved
SolvatedBox solvate(const WaterBox& water, const Geometry& solute, std::size_t waters,
                    double edge_angstrom, std::uint64_t seed);

}  // namespace starpmc
