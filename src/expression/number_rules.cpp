#include "expression/number_rules.hpp"

namespace starpmc::expression {
namespace {

std::optional<double> exact_integer_power(double x, double n) {
  constexpr double kMost = 1100;  // beyond, only powers of 0, 1 and -1 are doubles
  if (n > kMost) return std::nullopt;
  double result = 1;
  for (int i = 0; i < static_cast<int>(n); ++i) {
    const std::optional<double> next = exact_product(result, x);
    if (!next) return std::nullopt;
    result = *next;
  }
  return result;
}

}  // namespace

std::optional<double> exact_power(double x, double n) {
  if (n < 0) {
    const std::optional<double> positive = exact_power(x, -n);
    if (!positive || *positive == 0) return std::nullopt;
    const double inverse = 1 / *positive;
    if (exact_product(inverse, *positive) != 1.0) return std::nullopt;
    return inverse;
  }
  if (is_integer(n)) return exact_integer_power(x, n);
  if (!is_integer(2 * n) || x <= 0) return std::nullopt;
  const double root = std::sqrt(x);
  if (exact_product(root, root) != x) return std::nullopt;
  return exact_integer_power(root, 2 * n);
}

}  // namespace starpmc::expression
