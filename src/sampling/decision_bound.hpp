#pragma once

#include <span>

#include "kernels/precision.hpp"
#include "sampling/topology_buffers.hpp"
#include "sampling/user_errors.hpp"

namespace starpmc {

/// Bound on the error of a step's energy change against the exact one, for certified decisions
/// (design, section 2).
///
/// Rounding errors of single pair energies are of either sign and bounded by their magnitude, so
/// that their sum deviates like a random walk; what is common to many pairs (the rounding of a
/// site's place relative to a compact block, a biased reciprocal square root) is counted per block
/// and in full. The bound is six standard deviations:
///   grid     u k q S (1/10 + 6 * 1.2 / sqrt(n)) * sqrt(2),
///            q: sum of a molecule's absolute charges; S: largest sum of |charge|/r over the grid
///            at a site in contact with the solute; n: number of compact blocks that share the
///            charge
///   MM       6 * 2 u k Q sqrt(2 * 4 pi rho (rc/3) (1 - rn/rc)^3) beyond the distance rn up to
///   which
///            pairs are fp64 in every precision; Q: sum of a molecule's squared charges
///   cutoff   the jump of a truncated Lennard-Jones pair, which may fall on either side of the
///            cutoff
/// with u = 2^-24 where pair terms are fp32; in fp64 pairs, u = 2^-53, sums add up to 2^10 u and
/// the exact sum's own units (2^-41 kJ/mol a pair). `relative` covers what is proportional to the
/// energies themselves (overlaps). Functions of the user's add their UserErrors.
/// @param user          user_errors() of the same precision and topology
/// @param block_charges compact blocks' charges; empty: no density
DecisionBound decision_bound(Precision precision, const TopologyBuffers& topology,
                             const UserErrors& user, std::span<const double> block_charges);

}  // namespace starpmc
