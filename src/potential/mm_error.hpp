#pragma once

#include <span>

#include "kernels/potential.hpp"

namespace starpmc {

/// Pairs of sites of MM molecules that have the same energies.
struct MmPair {
  double count = 0;
  double charges = 0;                    ///< the product, times the Coulomb constant
  const double* coefficients = nullptr;  ///< as topologies have them (PairLayout)
};

/// Where the user's functions are to be evaluated.
struct MmSpace {
  double radius;  ///< largest distance of a site from its molecule's centre, A
  double coulomb_cutoff;
  double vdw_cutoff;
  double volume;     ///< of the box, A^3
  double molecules;  ///< in it

  /// From here on sites may belong to molecules that are not near (STARPMC_NEAR_DISTANCE).
  double least() const;
  /// By which fp32 coordinates displace two sites.
  double displacement() const;
};

/// Error of a step's energy change where the pairs of MM molecules that are not near are computed
/// in fp32 arithmetic, kJ/mol: six standard deviations of the proven errors (ErrorBound) of pairs
/// that are no overlaps, in an ideal gas.
/// @param function PairLayout::mm_function
/// @return infinity where fp32 does not do: a function jumps, has a pole, leaves the range of fp32,
///         or loses more digits of an overlap's energy than 256 roundings take
double mm_error_in_single(const Potential& potential, std::span<const MmPair> pairs, int function,
                          const MmSpace& space);

/// Up to this error, in units of kT, functions are evaluated in fp32: about one step in a hundred
/// is then evaluated again. Beyond it fp64 is faster.
inline constexpr double kLargestMmError = 0.02;

}  // namespace starpmc
