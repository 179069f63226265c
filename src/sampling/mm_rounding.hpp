#pragma once

#include "kernels/precision.hpp"
#include "sampling/topology_buffers.hpp"

namespace starpmc {

/// Bound on the rounding of a step's energies with MM molecules under the built-in functions,
/// kJ/mol, for any configuration that Packing admits.
///
/// Of each rounding, proven: how far it moves the energy of a pair of sites, at the least distance
/// that the molecules' extents leave them. Below fp64, u = 2^-24, pairs of molecules from 5.5 A on:
///   of the molecule pair   the place of its centre (twice u r)
///   of a neighbour's site  its displacement from there, and the sum
///   of a pair of sites     the difference of places (u r), r^2 (2 u r), 1/r (4 u, which Program
///                          checks of each OpenCL device), the refined r, 1 - r/rc, products; sums
///                          of the pairs of sites
///   of the moved site      its displacement: common to all neighbours, whose fields are added in
///                          full
/// nearer ones, in fp64: the stored displacements in fp32; everywhere centres in units of 2^-32 of
/// the box, and the table of a window's pairs in fp32. A truncated van der Waals term counts with
/// its whole height in the pairs that may lie on either side of the cutoff.
///
/// Statistical (ErrorSum): roundings but for those common ones are independent and of either sign,
/// so that their sum exceeds six standard deviations, 4e-8; each counts as large as it can be. The
/// decision is wrong only where the threshold lies within that excess, too: in less than one step
/// of 1e9.
double mm_rounding(Precision precision, const TopologyBuffers& topology);

/// How far a stored place of a site may be wrong, A.
double stored_displacement(Precision precision, const TopologyBuffers& topology);

}  // namespace starpmc
