#include "potential/operation_range.hpp"

#include <numbers>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

Interval scaled(double factor, Interval a) { return Interval::point(factor) * a; }
Interval one_over(Interval a) { return Interval::point(1) / a; }

/// Where a function is defined from `least` to `most` only; computed operands may leave that by
/// rounding.
Defined defined_between(Interval x, double least, double most) {
  if (x.high < least || x.low > most) return Defined::never;
  return x.low < least || x.high > most ? Defined::perhaps : Defined::always;
}

OperationRange quotient(Interval a, Interval b) {
  OperationRange local{a / b};
  local.by_a = one_over(b);
  local.by_b = -(local.range / b);
  const bool zeros = a.contains(0) && b.contains(0);
  if (zeros || (!a.is_bounded() && !b.is_bounded())) local.defined = Defined::perhaps;
  return local;
}

OperationRange power(Interval x, Interval y) {
  const bool whole = y.is_point() && std::floor(y.low) == y.low;
  if (!whole && x.high < 0 && y.is_point())
    return {Interval::everything(), {}, {}, 0, Defined::never};
  OperationRange local{};
  if (!whole && x.low < 0) {
    local.defined = Defined::perhaps;
    if (x.high < 0 || !y.is_point()) {
      local.range = local.by_a = local.by_b = Interval::everything();
      return local;
    }
    x.low = 0;
  }
  local.range = interval::power(x, y);
  const Interval less = whole ? Interval::point(y.low - 1) : y - Interval::point(1);
  local.by_a = y * interval::power(x, less);
  local.by_b = y.is_point() ? Interval{} : local.range * interval::log(x);
  return local;
}

/// 1 / (1 - x^2)^(1/2) for asin and acos.
Interval arc_slope(Interval x) {
  const Interval rest =
      Interval::point(1) - interval::square({std::max(x.low, -1.0), std::min(x.high, 1.0)});
  return one_over(interval::square_root({std::max(rest.low, 0.0), rest.high}));
}

/// exp(-x^2) 2 / sqrt(pi)
Interval error_function_slope(Interval x) {
  return scaled(2 * std::numbers::inv_sqrtpi, interval::exp(-interval::square(x)));
}

OperationRange angle(Interval y, Interval x) {
  OperationRange local{};
  if (x.low < 0 && y.contains(0)) {
    constexpr double kHalfTurn = 3.15;
    local.range = {-kHalfTurn, kHalfTurn};
    local.jump = 2 * kHalfTurn;
  } else {
    local.range = interval::atan2(y, x);
  }
  const Interval square = interval::square(x) + interval::square(y);
  local.by_a = x / square;
  local.by_b = -(y / square);
  return local;
}

OperationRange trigonometric(Operation operation, Interval x) {
  OperationRange local{};
  if (!x.is_bounded()) local.defined = Defined::perhaps;
  if (operation == Operation::sin) {
    local.range = interval::sin(x);
    local.by_a = interval::cos(x);
  } else if (operation == Operation::cos) {
    local.range = interval::cos(x);
    local.by_a = -interval::sin(x);
  } else {
    local.range = interval::tan(x);
    local.by_a = Interval::point(1) + interval::square(local.range);
  }
  return local;
}

/// Functions of one operand that are defined for some numbers only.
OperationRange partial_function(Operation operation, Interval x) {
  const bool arc = operation == Operation::asin || operation == Operation::acos;
  OperationRange local{Interval::everything()};
  local.defined = arc ? defined_between(x, -1, 1) : defined_between(x, 0, kInfinity);
  if (local.defined == Defined::never) return local;
  const Interval inside{std::max(x.low, 0.0), x.high};
  switch (operation) {
    case Operation::square_root:
      local.range = interval::square_root(inside);
      local.by_a = one_over(scaled(2, local.range));
      break;
    case Operation::reciprocal_square_root:
      local.range = one_over(interval::square_root(inside));
      local.by_a = scaled(-0.5, local.range / inside);
      break;
    case Operation::log:
      local.range = interval::log(inside);
      local.by_a = one_over(inside);
      break;
    case Operation::asin:
      local.range = interval::asin(x);
      local.by_a = arc_slope(x);
      break;
    default:
      local.range = interval::acos(x);
      local.by_a = -arc_slope(x);
  }
  return local;
}

OperationRange smooth_function(Operation operation, Interval x) {
  switch (operation) {
    case Operation::negate:
      return {-x, Interval::point(-1)};
    case Operation::reciprocal: {
      const Interval range = one_over(x);
      return {range, -interval::square(range)};
    }
    case Operation::exp: {
      const Interval range = interval::exp(x);
      return {range, range};
    }
    case Operation::atan:
      return {interval::atan(x), one_over(Interval::point(1) + interval::square(x))};
    case Operation::sinh:
      return {interval::sinh(x), interval::cosh(x)};
    case Operation::cosh:
      return {interval::cosh(x), interval::sinh(x)};
    case Operation::tanh:
      return {interval::tanh(x), one_over(interval::square(interval::cosh(x)))};
    case Operation::erf:
      return {interval::erf(x), error_function_slope(x)};
    case Operation::erfc:
      return {interval::erfc(x), -error_function_slope(x)};
    case Operation::abs: {
      const Interval slope{x.low < 0 ? -1.0 : 1.0, x.high > 0 || x.low == 0 ? 1.0 : -1.0};
      return {{x.mignitude(), x.magnitude()}, slope};
    }
    case Operation::sin:
    case Operation::cos:
    case Operation::tan:
      return trigonometric(operation, x);
    default:
      return partial_function(operation, x);
  }
}

OperationRange of_two(Operation operation, Interval a, Interval b, bool same) {
  switch (operation) {
    case Operation::add:
    case Operation::subtract: {
      const bool plus = operation == Operation::add;
      OperationRange local{plus ? a + b : a - b, Interval::point(1),
                           Interval::point(plus ? 1 : -1)};
      if (!a.is_bounded() && !b.is_bounded()) local.defined = Defined::perhaps;
      return local;
    }
    case Operation::multiply: {
      OperationRange local{same ? interval::square(a) : a * b, b, a};
      const bool nothing = (a.contains(0) && !b.is_bounded()) || (b.contains(0) && !a.is_bounded());
      if (nothing) local.defined = Defined::perhaps;
      return local;
    }
    case Operation::divide:
      return quotient(a, b);
    case Operation::power:
      return power(a, b);
    case Operation::atan2:
      return angle(a, b);
    default:
      throw RunError("an instruction of a program has no operation");
  }
}

}  // namespace

OperationRange operation_range(Operation operation, Interval a, Interval b, bool same) {
  return operand_count(operation) == 2 ? of_two(operation, a, b, same)
                                       : smooth_function(operation, a);
}

}  // namespace starpmc
