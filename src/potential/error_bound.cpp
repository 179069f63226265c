#include "potential/error_bound.hpp"

#include <limits>

#include "expression/number_rules.hpp"
#include "kernels/base/error.hpp"
#include "kernels/common/layout.h"

namespace starpmc {
namespace {

using Value = BoundedValue;

/// See ErrorBound.
double ulps_of(const Instruction& instruction, bool single) {
  switch (instruction.operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
      return 0.5;
    case Operation::divide:
      if (instruction.operands[1] == 0) return 5;  // by r^2
      return single ? 2.5 : 1.5;
    case Operation::reciprocal:
      return single ? 8.5 : 4.5;
    case Operation::square_root:
      return single ? 3 : 2;
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

/// Whether operands that may be infinite, having overflowed, may make no number.
bool may_be_no_number(Operation operation, const Interval& a, const Interval& b) {
  const auto meets_zero = [](const Interval& infinite, const Interval& other) {
    return !infinite.is_bounded() && other.contains(0);
  };
  switch (operation) {
    case Operation::multiply:
      return meets_zero(a, b) || meets_zero(b, a);
    case Operation::divide:
      return !a.is_bounded() && !b.is_bounded();
    case Operation::add:
      return (a.high == kInfinity && b.low == -kInfinity) ||
             (a.low == -kInfinity && b.high == kInfinity);
    case Operation::subtract:
      return (a.high == kInfinity && b.high == kInfinity) ||
             (a.low == -kInfinity && b.low == -kInfinity);
    default:
      return false;
  }
}

Value evaluated(const Instruction& instruction, const Value& a, const Value& b, const Value& c,
                double unit_roundoff) {
  const Operation operation = instruction.operation;
  if (expression::is_discontinuous(operation)) return discontinuous(operation, a, b, c);
  if (operation == Operation::min || operation == Operation::max) {
    return lesser_or_greater(a, b, operation == Operation::max);
  }
  const bool two = operand_count(operation) == 2;
  const Defined operands = two ? both(a.defined, b.defined) : a.defined;
  const bool same = instruction.operands[0] == instruction.operands[1];
  const OperationRange local = operation_range(operation, a.value, b.value, same);
  const bool single = unit_roundoff > 0x1p-50;
  // An ulp of x is at most 2 u |x|.
  const double relative = 2 * ulps_of(instruction, single) * unit_roundoff;
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
  if (may_be_no_number(operation, a.value, b.value)) {
    result.defined = both(result.defined, Defined::perhaps);
  }
  return result;
}

}  // namespace

double BoundedValue::difference(double displacement, double evaluators) const {
  if (defined == Defined::never) return 0;
  const double by_slope =
      (bound_product(slope.magnitude(), displacement) + evaluators * rounding + jump) *
      (1 + 0x1p-50);
  if (defined == Defined::always) return std::min(by_slope, value.width());
  // A result that is not a number counts as the largest energy.
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
    const bool single = unit_roundoff > 0x1p-50;
    // In fp32 it is infinite, and 0 times it no number.
    const bool overflows = single && std::abs(x) > std::numeric_limits<float>::max();
    if (!std::isfinite(x) || overflows) {
      const Defined defined = std::isnan(x) ? Defined::never
                              : overflows   ? Defined::perhaps
                                            : Defined::always;
      value = {Interval::everything(), {}, kInfinity, 0, defined};
    }
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
  Value square{interval::square(distances), Interval::point(2) * distances};
  values_.assign(1, square);
  values_.insert(values_.end(), fixed_.begin(), fixed_.end());
  for (const Instruction& instruction : program_.instructions) {
    const auto [a, b, c] = instruction.operands;
    values_.push_back(evaluated(instruction, values_[a], values_[b], values_[c], unit_roundoff_));
  }
  return values_[program_.outputs.front()];
}

}  // namespace starpmc
