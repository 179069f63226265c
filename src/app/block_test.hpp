#pragma once

#include <cstdint>
#include <span>

namespace starpmc {

/// The Metropolis test at a block's end: whether the step from the configuration before it is one
/// of the true Hamiltonian.
struct BlockDecision {
  double probability;
  bool accepted;
};

/// @param start,end true less sampled energy there, kJ/mol
/// @param kt        kJ/mol
/// @param step      at the block's end; with seed and chain it tells the random number
BlockDecision test_block(double start, double end, double kt, std::uint64_t seed,
                         std::uint32_t chain, std::uint64_t step);

/// Steps of a block that make the solute's surroundings about independent of what they were.
/// @param energies  of solute and solvent, every `interval` steps of equilibration
/// @param most      the longest block allowed
std::uint64_t automatic_block(std::span<const double> energies, std::uint64_t interval,
                              std::uint64_t most);

}  // namespace starpmc
