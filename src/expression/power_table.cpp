#include "expression/power_table.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "expression/addition_chain.hpp"
#include "expression/number_rules.hpp"

namespace starpmc::expression {
namespace {

bool joins_chain(double exponent, bool base_is_squared) {
  const bool fits = base_is_squared ? is_integer(exponent) : is_integer(2 * exponent);
  return fits && std::abs(exponent) <= kLargestChainPower;
}

}  // namespace

void PowerTable::make(ProgramBuilder& builder, Value base, bool base_is_squared) {
  values_[base_is_squared ? 2 : 1] = base;
  make_general_powers(builder, base, base_is_squared);
  if (base_is_squared) {
    make_powers_of_root(builder, base);
  } else {
    make_powers(builder, base);
  }
  shift_general_powers(builder);
}

/// Of the powers that differ by integers and have one sign the one nearest to 0 takes an operation;
/// the others are it times integer powers, which are finite at 0 wherever they are.
void PowerTable::make_general_powers(ProgramBuilder& builder, Value base, bool base_is_squared) {
  std::vector<double> general;
  std::ranges::copy_if(exponents_, std::back_inserter(general),
                       [&](double e) { return !joins_chain(e, base_is_squared); });
  std::ranges::sort(general, {}, [](double e) { return std::abs(e); });
  std::vector<double> made;
  for (const double exponent : general) {
    const auto nearest = std::ranges::find_if(made, [exponent](double other) {
      // As numbers are rounded: 0.3 and 2.3 differ by 2.
      const double difference = std::round(exponent - other);
      return (other < 0) == (exponent < 0) && std::abs(difference) <= kLargestChainPower &&
             other + difference == exponent;
    });
    if (nearest != made.end()) {
      const double difference = std::round(exponent - *nearest);
      shifted_[exponent] = {*nearest, difference};
      exponents_.insert(difference);
      continue;
    }
    made.push_back(exponent);
    const double of_given = base_is_squared ? exponent / 2 : exponent;
    values_[exponent] = builder.emit(Operation::power, base, builder.constant(of_given));
  }
}

void PowerTable::shift_general_powers(ProgramBuilder& builder) {
  for (const auto& [exponent, parts] : shifted_) {
    values_[exponent] =
        builder.emit(Operation::multiply, values_.at(parts.first), values_.at(parts.second));
  }
}

void PowerTable::make_powers(ProgramBuilder& builder, Value base) {
  const bool positive_mixed = set_halves_apart(1);
  const bool negative_mixed = set_halves_apart(-1);
  const bool positive_halves = has_powers(1, true);
  const bool negative_halves = has_powers(-1, true);
  if (positive_halves) values_[0.5] = builder.emit(Operation::square_root, base);
  // Not the root as the base times its reciprocal: that would be no number at 0.
  if (negative_halves && positive_halves) {
    values_[-0.5] = builder.emit(Operation::reciprocal, values_[0.5]);
  } else if (negative_halves) {
    values_[-0.5] = builder.emit(Operation::reciprocal_square_root, base);
  }
  if (has_powers(-1, false)) values_[-1] = builder.emit(Operation::reciprocal, base);
  multiply_up(builder, positive_halves && !positive_mixed ? 0.5 : 1);
  multiply_up(builder, negative_halves && !negative_mixed ? -0.5 : -1);
}

/// Whether there are half-integer, or integer, powers of a sign.
bool PowerTable::has_powers(int sign, bool halves) const {
  return std::ranges::any_of(exponents_, [=](double e) {
    return e * sign > 0 && joins_chain(e, false) && is_integer(e) != halves;
  });
}

/// Integer powers are numbers where the base is negative, and roots are not: where both are needed,
/// each half-integer power is the root times an integer power.
bool PowerTable::set_halves_apart(int sign) {
  if (!has_powers(sign, true) || !has_powers(sign, false)) return false;
  const double root = 0.5 * sign;
  const std::set<double> planned = exponents_;
  for (const double e : planned) {
    if (e * sign <= 0.5 || !joins_chain(e, false) || is_integer(e)) continue;
    shifted_[e] = {root, e - root};
    exponents_.insert(e - root);
  }
  return true;
}

void PowerTable::make_powers_of_root(ProgramBuilder& builder, Value square) {
  bool root = false;
  bool reciprocal_root = false;
  bool reciprocal_square = false;
  for (const double e : exponents_) {
    if (!joins_chain(e, true)) continue;
    root = root || (e > 0 && !is_even(e));
    reciprocal_root = reciprocal_root || (e < 0 && !is_even(e));
    reciprocal_square = reciprocal_square || (e < 0 && is_even(e));
  }
  if (reciprocal_root || (root && reciprocal_square)) {
    reciprocal_root = true;
    values_[-1] = builder.emit(Operation::reciprocal_square_root, square);
    if (root) values_[1] = builder.emit(Operation::multiply, square, values_[-1]);
  } else if (root) {
    values_[1] = builder.emit(Operation::square_root, square);
  } else if (reciprocal_square) {
    values_[-2] = builder.emit(Operation::reciprocal, square);
  }
  multiply_up(builder, root ? 1 : 2);
  multiply_up(builder, reciprocal_root ? -1 : -2);
}

/// The powers of the sign of `unit`, by a chain in which unit counts as 1.
void PowerTable::multiply_up(ProgramBuilder& builder, double unit) {
  std::vector<std::uint32_t> given;
  std::vector<std::uint32_t> targets;
  const auto in_units = [unit](double e) { return static_cast<std::uint32_t>(e / unit); };
  for (const double e : {unit, 2 * unit}) {
    if (values_.contains(e)) given.push_back(in_units(e));
  }
  for (const double e : exponents_) {
    const bool in_chain = e / unit > 0 && is_integer(e / unit) &&
                          std::abs(e) <= kLargestChainPower && !shifted_.contains(e) &&
                          !values_.contains(e);
    if (in_chain) targets.push_back(in_units(e));
  }
  if (targets.empty()) return;
  for (const auto [left, right] : addition_chain(given, targets)) {
    values_[unit * (left + right)] =
        builder.emit(Operation::multiply, values_.at(unit * left), values_.at(unit * right));
  }
}

}  // namespace starpmc::expression
