#pragma once

#include <span>
#include <vector>

#include "kernels/program.hpp"
#include "potential/interval.hpp"
#include "potential/operation_range.hpp"

namespace starpmc {

/// Unit roundoff of fp32.
inline constexpr double kSingle = 0x1p-24;

/// What a program computes at the distances of a cell.
struct BoundedValue {
  Interval value;       ///< all results, of real and of floating-point arithmetic, where defined
  Interval slope{};     ///< d value / dr over the reals, jumps left out
  double rounding = 0;  ///< the most that a computed result differs from the real one, where every
                        ///< discontinuous operation goes the same way
  double jump = 0;      ///< and the most that other ways change it
  Defined defined = Defined::always;

  /// The largest difference between two evaluators whose distances lie in the cell and differ by at
  /// most `displacement`.
  /// @param evaluators how many of them round (1: the other is exact)
  double difference(double displacement, double evaluators = 2) const;
  /// Whether there is a jump, or what looks like one from so far.
  bool jumps(double displacement) const;
};

/// Proven bounds of a function of one distance, by interval arithmetic, automatic differentiation
/// and error analysis over its instructions.
///
/// Every operation's computed result lies within N ulps (or 2^-1022, where subnormal numbers are
/// flushed to 0; fp32: 2^-126) of the function of its computed operands, N the largest of what the
/// OpenCL specification (full profile, table of relative errors) and our own evaluators leave:
///   0.5   + - *, fused or not
///   1.5   fp64 quotients (LLVM may multiply by the reciprocal of a divisor that several share)
///   2     fp64 1/sqrt, square root (r is refined beside 1/r);  4.5  1/x (the square of 1/r);
///         5  quotients by r^2 (times that)
///   2.5   fp32 /,  3  square root,  4  1/sqrt,  8.5  1/x (likewise),  5  quotients by r^2: what
///         multiplies twice is a rsqrt of 2 ulps at the most, or our refinement of 1.2
///   3 exp log,  4 sin cos asin acos sinh cosh,  5 tan atan tanh,  6 atan2,  16 pow erf erfc
/// The error of a result is bounded by that of the operands, times the largest partial derivatives
/// over the cell. Where step, delta, floor, ceil, select or the branch cut of atan2 may go either
/// way, by rounding or within the cell, there is a jump by all of their range.
class ErrorBound {
 public:
  /// @param program       of r^2, then the coefficients; one output
  /// @param unit_roundoff of the arithmetic: 2^-53, or 2^-24
  /// @throws RunError where the coefficients do not fit the program
  ErrorBound(const Program& program, std::span<const double> coefficients,
             double unit_roundoff = 0x1p-53);

  /// @param distances of r > 0
  BoundedValue over(Interval distances) const;

 private:
  const Program& program_;
  std::vector<BoundedValue> fixed_;  ///< coefficients and constants
  double unit_roundoff_;
  mutable std::vector<BoundedValue> values_;
};

}  // namespace starpmc
