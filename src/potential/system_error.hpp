#pragma once

#include "potential/mm_error.hpp"
#include "potential/pair_potential.hpp"

namespace starpmc {

/// mm_error_in_single() of all pairs of sites of a system's MM molecules.
/// @param potential complete, but for Potential::mm_as_pairs
/// @param settings  cutoffs resolved
double mm_error_in_single(const PairPotential& potential, const System& system,
                          const Settings& settings);

}  // namespace starpmc
