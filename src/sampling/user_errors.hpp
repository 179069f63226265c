#pragma once

#include "kernels/precision.hpp"
#include "sampling/topology_buffers.hpp"

namespace starpmc {

/// Errors that functions of the user's bring into a step's energy change.
struct UserErrors {
  double absolute = 0;       ///< kJ/mol, of the MM energies
  double relative = 0;       ///< of overlapping molecules' energies
  double coulomb_scale = 1;  ///< how much larger than 1/r's the grid term's errors are
  double coulomb_jump = 0;   ///< largest jump of f, at the cutoff or within it, 1/A
};

/// The functions are fp64, but for the Coulomb function in the grid term (Potential::grid_as_pairs)
/// and those of MM molecules that are not near (Potential::mm_as_pairs: from 5.5 A - 2 R on, in
/// fp32 below fp64); distances are as exact as the stored coordinates, wrong by dr at most: below
/// fp64 2^-24 (1 A + 2 R), R the largest radius of a molecule (sites are fp32 there, from their
/// centre), or in fixed precision 2^-31 of the box's longest edge where that is more; else, and
/// with the nuclei, 2^-50 of that edge.
///
/// Proven, for every distance (ErrorBound, over cells between the least distance and the cutoff
/// that are halved until it is sharp): the plain and the exact energy of one pair differ by no more
/// than e = min(sup |V'| dr + 2 sup |rounding| + jumps, range of V over all that dr reaches). So
/// narrow features and jumps count wherever they are, the latter with their whole height in the
/// pairs that lie within dr of them; so do jumps at the cutoff. What cannot be bounded is infinite.
///
/// Statistical (ErrorSum): how the errors of pairs that are no overlaps add up, 2 * 4 pi rho r^2 dr
/// of them at a distance, old and new place together: like those of independent pairs of an ideal
/// gas, six standard deviations of them where they are many. rho is the densest packing of each
/// type of molecule (Packing), whatever the box's mean density; around the nuclei it is 0.2 atoms
/// per A^3, more than any molecule has. Events of less than 1e-9 pairs a step are neglected: most
/// jumps in fp64.
///
/// Overlaps are pairs of |V| above 50 kJ/mol; of charges, whose energies cancel in a molecule,
/// above 300 kJ/mol, and 10^4 kJ/mol with nuclei. There e / |V| is `relative`, up to
/// STARPMC_LARGEST_PAIR_ENERGY, at which all energies end. Jumps among such repulsive energies
/// decide nothing unless a step leaves another overlap: up to 1e-4 pairs a step are neglected.
/// `coulomb_scale` is the largest of |f| r and |f'| r^2 from 0.5 A on and,
/// where the grid term is in fp32, of grid_error_in_single().
UserErrors user_errors(Precision precision, const TopologyBuffers& topology);

}  // namespace starpmc
