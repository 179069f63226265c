#pragma once

#include <cmath>
#include <optional>

#include "expression/pool.hpp"

namespace starpmc::expression {

inline bool is_integer(double x) { return std::trunc(x) == x; }
/// Beyond 2^53 every double is even.
inline bool is_even(double x) { return is_integer(x) && std::fmod(x, 2) == 0; }
/// An integer exponent that can be counted up and down: the sum and the difference of two of these
/// are exact. Beyond, e - 1 may be e again.
inline bool is_countable(double x) { return is_integer(x) && std::abs(x) <= 0x1p52; }

/// Operations that compare or round: their values jump.
inline bool is_discontinuous(Operation operation) {
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

/// a + b if that is a double exactly.
inline std::optional<double> exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_share = sum - a;
  const double error = (a - (sum - b_share)) + (b - b_share);
  if (!std::isfinite(sum) || error != 0) return std::nullopt;
  return sum;
}

/// a b if that is a double exactly.
inline std::optional<double> exact_product(double a, double b) {
  const double product = a * b;
  if (!std::isfinite(product) || std::fma(a, b, -product) != 0) return std::nullopt;
  if (product != 0 && std::abs(product) < 0x1p-960) return std::nullopt;  // the error may underflow
  return product;
}

/// The result of combining numbers, rounded once.
/// @throws ConstantError if it is not finite, or so small that digits are lost
inline double in_range(double result, bool may_be_zero) {
  if (!std::isfinite(result) || (!may_be_zero && std::abs(result) < 0x1p-1022)) {
    throw ConstantError("expression", "numbers combine to one beyond the range of double", "",
                        "the parts that are numbers must stay between 2.3e-308 and 1.8e308");
  }
  return result;
}

}  // namespace starpmc::expression
