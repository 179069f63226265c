#pragma once

#include "kernels/program.hpp"
#include "potential/interval.hpp"

namespace starpmc {

/// Whether a value is a number (infinities are; NaN is none).
enum class Defined : unsigned char { always, perhaps, never };

/// An operation of real numbers over ranges of its operands.
struct OperationRange {
  Interval range;   ///< where defined
  Interval by_a{};  ///< partial derivatives
  Interval by_b{};  ///< 0 where there is no second operand
  double jump = 0;  ///< at the branch cut of atan2, where the operands reach it
  Defined defined = Defined::always;
};

/// Of the operations but those that compare or round (min, max, floor, ceil, step, delta, select).
/// @param same whether the operands are one value
/// @throws RunError for an operation that is none
OperationRange operation_range(Operation operation, Interval a, Interval b, bool same);

}  // namespace starpmc
