#pragma once

#include "kernels/precision.hpp"

namespace starpmc {

/// Fewest operations of a pair of site and grid point beside its reciprocal square root, counting a
/// fused multiply-add as one: displacement 3, its square 3, r 1, shifted-force energy 2, sum 1,
/// cutoff 1. Minimum images and what refines an estimated root are not counted.
inline constexpr double kOperationsPerPair = 11;

/// How fast one worker computes in registers, in the precision of the pairs.
struct ArithmeticRates {
  double multiply_adds_per_second = 0;
  double reciprocal_roots_per_second = 0;  ///< to the pair sums' accuracy
  double register_pairs_per_second = 0;    ///< the grid term's loop without memory

  /// Pairs per second where root and arithmetic hide each other perfectly.
  double ceiling() const;
};

/// Measures the workers tasks are restricted to.
/// @param seconds per loop, about
ArithmeticRates measure_arithmetic(Precision precision, double seconds);

}  // namespace starpmc
