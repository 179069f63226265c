#pragma once

#include "kernels/precision.hpp"
#include "sampling/topology_buffers.hpp"

namespace starpmc {

/// Errors that functions of the user's bring into a step's energy change.
struct UserErrors {
  double absolute = 0;       ///< kJ/mol, of the MM energies
  double relative = 0;       ///< of overlapping molecules' energies
  double coulomb_scale = 1;  ///< how much larger than 1/r's the grid term's errors are
  double coulomb_jump = 0;   ///< |f| at the cutoff, 1/A
};

/// The functions are fp64 in every precision; distances are as exact as the stored coordinates: the
/// error of a pair is e = |V'| dr + 16 |V_plain - V_exact| + 16 u |V|, u = 2^-53, by differences at
/// sampled distances. With dr = 2^-24 (1 A + 2 R) below fp64, R the largest radius of a molecule
/// (sites are fp32 there, from their centre), else 2^-50 of the box's longest edge.
///
/// Where |V| is below 50 kJ/mol, errors of all neighbours add up like a random walk: six standard
/// deviations, 6 sqrt(2 sum_ab 4 pi rho_b int r^2 e^2 dr). Where it is above, e / |V| is `relative`
/// up to STARPMC_LARGEST_PAIR_ENERGY, at which all energies end. `coulomb_scale` is the largest of
/// |f| r and |f'| r^2 from 0.5 A on, `absolute` includes the largest jump of a pair at the cutoff
/// where pairs may fall on either side of it, below fp64.
UserErrors user_errors(Precision precision, const TopologyBuffers& topology);

}  // namespace starpmc
