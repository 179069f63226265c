#pragma once

#include "kernels/program.hpp"

namespace starpmc {

/// From here on a site's distance from a grid point counts for the error of the grid term, A:
/// nearer points have no charge to speak of.
inline constexpr double kNearestGridPoint = 0.5;

/// How much larger the error of a Coulomb function may be in fp32 arithmetic than that of the
/// built-in one, (1 + r^2/rc^2)/r - 2/rc: the largest ratio of their proven bounds (ErrorBound) at
/// one distance, from kNearestGridPoint to the cutoff.
/// @param coulomb r^2 -> 1/A (Potential::coulomb)
/// @param cutoff  A
/// @return infinity where fp32 does not do: the function jumps, has a pole, leaves the range of
/// fp32
///         or loses more digits than the built-in one nearer than kNearestGridPoint
double grid_error_in_single(const Program& coulomb, double cutoff);

/// Beyond this ratio so many steps would be evaluated again that fp64 is faster.
inline constexpr double kLargestGridError = 10;

}  // namespace starpmc
