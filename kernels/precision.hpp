#pragma once

#include <cstdint>
#include <type_traits>

namespace starpmc {

/// Precision of the pair terms; positions, sums and decisions are fp64 in all of them.
enum class Precision {
  fp64,
  mixed,  ///< fp32 pairs, fp64 sums
  fixed   ///< 32-bit fixed-point coordinates, fp32 pair energies, fp64 sums
};
inline constexpr Precision kPrecisions[] = {Precision::fp64, Precision::mixed, Precision::fixed};

/// A coordinate as a fraction of the box's edge, in units of 2^-32: differences wrap as integers
/// overflow, so that minimum images cost nothing. The element type that selects `fixed` precision.
struct FixedCoordinate {
  std::int32_t value = 0;
};

/// A kernel's Real is the type of stored coordinates: double, float or FixedCoordinate. Pair terms
/// are computed in PairReal<Real>.
template <class Real>
using PairReal = std::conditional_t<std::is_same_v<Real, FixedCoordinate>, float, Real>;

template <class Real>
inline constexpr Precision kPrecisionOf = std::is_same_v<Real, double>  ? Precision::fp64
                                          : std::is_same_v<Real, float> ? Precision::mixed
                                                                        : Precision::fixed;

}  // namespace starpmc
