#include "potential/error_bound.hpp"

#include <numbers>

#include "error.hpp"
#include "kernels/common/layout.h"

namespace starpmc {
namespace {

using Value = BoundedValue;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSingle = 0x1p-24;

Interval scaled(double factor, Interval a) { return Interval::point(factor) * a; }
Interval one_over(Interval a) { return Interval::point(1) / a; }

/// See ErrorBound.
double ulps_of(Operation operation, bool single) {
  switch (operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
      return 0.5;
    case Operation::divide:
      return single ? 2.5 : 1.5;
    case Operation::reciprocal:
      return single ? 2.5 : 0.5;
    case Operation::square_root:
      return single ? 3 : 0.5;
    case Operation::reciprocal_square_root:
      return single ? 4 : 2;
    case Operation::exp:
    case Operation::log:
      return 3;
    case Operation::sin:
    case Operation::cos:
    case Operation::asin:
    case Operation::acos:
    case Operation::sinh:
    case Operation::cosh:
      return 4;
    case Operation::tan:
    case Operation::atan:
    case Operation::tanh:
      return 5;
    case Operation::atan2:
      return 6;
    case Operation::power:
    case Operation::erf:
    case Operation::erfc:
      return 16;
    default:
      return 0;
  }
}

Defined both(Defined a, Defined b) { return std::max(a, b); }
bool may_fail(const Value& a) { return a.defined != Defined::always; }

/// A function's range and partial derivatives over its operands.
struct Local {
  Interval range;
  Interval by_a{};
  Interval by_b{};
  double jump = 0;
  Defined defined = Defined::always;
};

/// Where a function is defined from `least` to `most` only; computed operands may leave that by
/// rounding.
Defined defined_between(Interval x, double least, double most) {
  if (x.high < least || x.low > most) return Defined::never;
  return x.low < least || x.high > most ? Defined::perhaps : Defined::always;
}

Local quotient(Interval a, Interval b) {
  Local local{a / b};
  local.by_a = one_over(b);
  local.by_b = -(local.range / b);
  const bool zeros = a.contains(0) && b.contains(0);
  if (zeros || (!a.is_bounded() && !b.is_bounded())) local.defined = Defined::perhaps;
  return local;
}

Local power(Interval x, Interval y) {
  const bool whole = y.is_point() && std::floor(y.low) == y.low;
  if (!whole && x.high < 0 && y.is_point())
    return {Interval::everything(), {}, {}, 0, Defined::never};
  Local local{};
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

Local angle(Interval y, Interval x) {
  Local local{};
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

Local trigonometric(Operation operation, Interval x) {
  Local local{};
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
Local partial_function(Operation operation, Interval x) {
  const bool arc = operation == Operation::asin || operation == Operation::acos;
  Local local{Interval::everything()};
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

Local smooth_function(Operation operation, Interval x) {
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

Local of_two(Operation operation, Interval a, Interval b, bool same) {
  switch (operation) {
    case Operation::add:
    case Operation::subtract: {
      const bool plus = operation == Operation::add;
      Local local{plus ? a + b : a - b, Interval::point(1), Interval::point(plus ? 1 : -1)};
      if (!a.is_bounded() && !b.is_bounded()) local.defined = Defined::perhaps;
      return local;
    }
    case Operation::multiply: {
      Local local{same ? interval::square(a) : a * b, b, a};
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

/// The result of an instruction that picks one of two values, each possibly.
Value either(const Value& a, const Value& b) {
  return {hull(a.value, b.value), hull(a.slope, b.slope), std::max(a.rounding, b.rounding),
          std::max(a.jump, b.jump), both(a.defined, b.defined)};
}

/// A jump between the ends of a range.
Value jumping(Interval range) { return {range, {}, 0, range.width()}; }

Value lesser_or_greater(const Value& a, const Value& b, bool greater) {
  if (may_fail(a) || may_fail(b)) {
    // which is taken where one is no number depends on the side that it stands on
    Value result = either(a, b);
    result.jump = result.value.width();
    result.defined = Defined::perhaps;
    return result;
  }
  const Value& low = greater ? b : a;
  const Value& high = greater ? a : b;
  if (low.value.high < high.value.low) return a;
  if (high.value.high < low.value.low) return b;
  Value result = either(a, b);
  const auto pick = [&](double x, double y) { return greater ? std::max(x, y) : std::min(x, y); };
  result.value = {pick(a.value.low, b.value.low), pick(a.value.high, b.value.high)};
  return result;
}

/// Operations that compare or round: exact, but for what their operands bring.
Value discontinuous(Operation operation, const Value& a, const Value& b, const Value& c) {
  const bool unsure = may_fail(a);
  const Interval x = unsure ? Interval::everything() : a.value;
  switch (operation) {
    case Operation::floor:
    case Operation::ceil: {
      const auto whole = [&](double v) {
        return operation == Operation::floor ? std::floor(v) : std::ceil(v);
      };
      Value result = jumping({whole(x.low), whole(x.high)});
      if (result.value.is_point()) result.jump = 0;
      result.defined = a.defined;
      return result;
    }
    case Operation::step:
      if (x.low >= 0) return {Interval::point(1)};
      if (x.high < 0) return {Interval::point(0)};
      return jumping({0, 1});
    case Operation::delta:
      if (!x.contains(0)) return {Interval::point(0)};
      if (x.is_point()) return {Interval::point(1)};
      return jumping({0, 1});
    default: {
      if (!x.contains(0)) return b;
      if (x.is_point()) return c;
      Value result = either(b, c);
      result.jump = result.value.width();
      return result;
    }
  }
}

bool compares(Operation operation) {
  switch (operation) {
    case Operation::floor:
    case Operation::ceil:
    case Operation::step:
    case Operation::delta:
    case Operation::select:
      return true;
    default:
      return false;
  }
}

/// The range with every end moved by the rounding of an operation; rounding keeps signs.
Interval rounded(Interval range, double relative, double least) {
  if (relative == 0) return range;
  const auto margin = [&](double end) { return std::abs(end) * relative + least; };
  Interval result{range.low == -kInfinity ? range.low : range.low - margin(range.low),
                  range.high == kInfinity ? range.high : range.high + margin(range.high)};
  if (range.low >= 0) result.low = std::max(result.low, 0.0);
  if (range.high <= 0) result.high = std::min(result.high, 0.0);
  return result;
}

Value evaluated(const Instruction& instruction, const Value& a, const Value& b, const Value& c,
                double unit_roundoff) {
  const Operation operation = instruction.operation;
  if (compares(operation)) return discontinuous(operation, a, b, c);
  if (operation == Operation::min || operation == Operation::max) {
    return lesser_or_greater(a, b, operation == Operation::max);
  }
  const bool two = operand_count(operation) == 2;
  const Defined operands = two ? both(a.defined, b.defined) : a.defined;
  const bool same = instruction.operands[0] == instruction.operands[1];
  const Local local =
      two ? of_two(operation, a.value, b.value, same) : smooth_function(operation, a.value);
  const bool single = unit_roundoff > 0x1p-50;
  // An ulp of x is at most 2 u |x|.
  const double relative = 2 * ulps_of(operation, single) * unit_roundoff;
  const double least = single ? 0x1p-126 : 0x1p-1022;
  const double largest = single ? 0x1p127 : std::numeric_limits<double>::max() / 2;
  Value result{rounded(local.range, relative, least), local.by_a * a.slope};
  if (two) result.slope = result.slope + local.by_b * b.slope;
  const auto of_operands = [&](double of_a, double of_b) {
    return bound_product(local.by_a.magnitude(), of_a) +
           (two ? bound_product(local.by_b.magnitude(), of_b) : 0);
  };
  const double own = relative == 0 ? 0 : relative * local.range.magnitude() + least;
  // The sums and products here round, too.
  result.rounding = (of_operands(a.rounding, b.rounding) + own) * (1 + 0x1p-48);
  result.jump = (of_operands(a.jump, b.jump) + local.jump) * (1 + 0x1p-48);
  // What overflowed is any number beyond the largest, or infinite.
  if (!(result.value.high < largest)) result.value.high = kInfinity;
  if (!(result.value.low > -largest)) result.value.low = -kInfinity;
  if (!result.value.is_bounded()) result.rounding = kInfinity;
  result.rounding = std::min(result.rounding, result.value.width());
  result.jump = std::min(result.jump, result.value.width());
  result.defined = both(operands, local.defined);
  return result;
}

}  // namespace

double BoundedValue::difference(double displacement) const {
  if (defined == Defined::never) return 0;
  const double by_slope =
      (bound_product(slope.magnitude(), displacement) + 2 * rounding + jump) * (1 + 0x1p-50);
  if (defined == Defined::always) return std::min(by_slope, value.width());
  // What is no number counts as the largest energy.
  return hull(value, Interval::point(STARPMC_LARGEST_PAIR_ENERGY)).width();
}

bool BoundedValue::jumps(double displacement) const {
  return defined == Defined::perhaps || jump > 0 ||
         bound_product(slope.magnitude(), displacement) >= value.width() ||
         !std::isfinite(rounding);
}

ErrorBound::ErrorBound(const Program& program, std::span<const double> coefficients,
                       double unit_roundoff)
    : program_(program), unit_roundoff_(unit_roundoff) {
  if (program.inputs.size() != coefficients.size() + 1 || program.outputs.size() != 1) {
    throw RunError("the errors of a program of " + std::to_string(program.inputs.size()) +
                   " inputs were asked for with " + std::to_string(coefficients.size()) +
                   " coefficients");
  }
  const auto add = [&](double x) {
    Value value{Interval::point(x)};
    if (!std::isfinite(x)) {
      const Defined defined = std::isnan(x) ? Defined::never : Defined::always;
      value = {Interval::everything(), {}, kInfinity, 0, defined};
    }
    const bool single = unit_roundoff > 0x1p-50;
    const bool subnormal = x != 0 && std::abs(x) < 0x1p-1022;
    if (subnormal || (single && static_cast<double>(static_cast<float>(x)) != x)) {
      value.rounding = std::abs(x) * 2 * kSingle + (single ? 0x1p-126 : 0x1p-1022);
      value.value = widened(value.value, value.rounding);
    }
    fixed_.push_back(value);
  };
  for (const double x : coefficients) add(x);
  for (const double x : program.constants) add(x);
}

BoundedValue ErrorBound::over(Interval distances) const {
  Value square{interval::square(distances), scaled(2, distances)};
  values_.assign(1, square);
  values_.insert(values_.end(), fixed_.begin(), fixed_.end());
  for (const Instruction& instruction : program_.instructions) {
    const auto [a, b, c] = instruction.operands;
    values_.push_back(evaluated(instruction, values_[a], values_[b], values_[c], unit_roundoff_));
  }
  return values_[program_.outputs.front()];
}

}  // namespace starpmc
