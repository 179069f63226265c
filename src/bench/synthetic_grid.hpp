#pragma once

#include <cstddef>

#include "qm/density_grid.hpp"
#include "system/system.hpp"

namespace starpmc {

/// A density grid of the size and the structure of a real one, for benchmarks without a QM program:
/// around every atom Mura-Knowles radial shells of about 974 points (Fibonacci spheres, so that any
/// number of points is possible), the density a sum of atomic exponentials (core and valence).
///
/// The points of an atom carry that atom's own density only. This is the stockholder partition of
/// the sum, exact for it; unlike Becke's cells it costs nothing beyond the points themselves.
/// @param electrons the charges' sum is -electrons
/// @param points    exact number of points, at least one per atom
DensityGrid synthetic_grid(const Solute& solute, int electrons, std::size_t points);

}  // namespace starpmc
