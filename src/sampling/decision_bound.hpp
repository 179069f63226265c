#pragma once

#include <span>

#include "kernels/precision.hpp"
#include "sampling/topology_buffers.hpp"
#include "sampling/user_errors.hpp"

namespace starpmc {

/// Bound on the error of a step's energy change against the exact one, for certified decisions
/// (src/sampling/README.md, "The same trajectory everywhere").
///
/// The bound depends on the topology alone and holds for any configuration that Packing admits, a
/// droplet in a large box as well as a liquid that fills it:
///   MM       mm_rounding(): all terms, extents of molecules, cutoffs
///   grid     u k q S (1/10 + 6 * 1.2 / sqrt(n)) * sqrt(2),
///            q: sum of a molecule's absolute charges; S: largest sum of |charge|/r over the grid
///            at a site in contact with the solute; n: number of compact blocks that share the
///            charge. Rounding errors of single pairs are of either sign, so that their sum
///            deviates like a random walk; what is common to many (the rounding of a site's place
///            relative to a compact block, a biased reciprocal square root) is counted per block
///            and in full
/// with u = 2^-24 where pair terms are fp32; in fp64 pairs, u = 2^-53, sums add up to 2^10 u and
/// the exact sum's own units (2^-41 kJ/mol a pair). `relative`, twice what a stored place may be
/// wrong, is of the energies themselves (van der Waals terms 12 times): for what Packing does not
/// admit, overlaps. Functions of the user's add their UserErrors.
///
/// Proven is how large each rounding can be; statistical, that six standard deviations are enough.
/// A step that exceeds them would have to lie within the excess of its threshold, too, to be
/// decided wrongly.
/// @param user          user_errors() of the same precision and topology
/// @param block_charges compact blocks' charges; empty: no density
DecisionBound decision_bound(Precision precision, const TopologyBuffers& topology,
                             const UserErrors& user, std::span<const double> block_charges);

}  // namespace starpmc
