#include <algorithm>
#include <cmath>
#include <tuple>

#include "expression/number_rules.hpp"
#include "expression/pool.hpp"

namespace starpmc::expression {

/// Gathers the factors of a product, flat; what divides the coefficient is gathered apart, so that
/// 5/3 is the quotient of these two.
class ProductBuilder {
 public:
  ProductBuilder(Pool& pool, double coefficient) : pool_(pool), numerator_(coefficient) {}

  void multiply(Node base, double exponent) {
    if (exponent == 0) return;
    const Kind kind = pool_.kind(base);
    if (kind == Kind::number) {
      multiply_number(pool_.value(base), exponent);
    } else if (kind == Kind::product) {
      multiply_product(base, exponent);
    } else if (kind == Kind::sum && is_integer(exponent) && pool_.leads_with_minus(base)) {
      if (!is_even(exponent)) numerator_ = -numerator_;
      powers_.push_back({pool_.sum({{base, -1}}), exponent});
    } else if (kind == Kind::function && pool_.operation(base) == Operation::abs &&
               is_even(exponent)) {
      multiply(pool_.operands(base)[0].node, exponent);
    } else {
      powers_.push_back({base, exponent});
    }
  }

  Node finish() {
    // Collecting may leave a product to the power 1, which is to be flattened: then once more.
    while (collect()) {
    }
    const double coefficient = in_range(numerator_ / denominator_, numerator_ == 0);
    if (coefficient == 0) return pool_.number(0);
    if (powers_.empty()) return pool_.number(coefficient);
    if (powers_.size() == 1 && powers_[0].factor == 1 && coefficient == 1) return powers_[0].node;
    if (powers_.size() == 1 && powers_[0].factor == 1 && coefficient == -1 &&
        pool_.kind(powers_[0].node) == Kind::sum) {
      return pool_.sum({{powers_[0].node, -1}});
    }
    return pool_.intern({.kind = Kind::product, .value = coefficient, .operands = powers_});
  }

 private:
  void multiply_number(double value, double exponent) {
    if (value == 0 && exponent < 0) {
      throw ConstantError("expression", "division by zero", "", "a divisor must not be 0");
    }
    if (exponent == -1) {
      denominator_ = in_range(denominator_ * value, false);
      return;
    }
    const double power = exponent == 1 ? value : std::pow(value, exponent);
    numerator_ = in_range(numerator_ * in_range(power, value == 0), value == 0 || numerator_ == 0);
  }

  void multiply_product(Node base, double exponent) {
    const double coefficient = pool_.value(base);
    const auto factors = pool_.operands(base);
    if (std::abs(exponent) == 1) {
      multiply_number(coefficient, exponent);
      for (const Operand& factor : factors) multiply(factor.node, factor.factor * exponent);
      return;
    }
    if (coefficient < 0 && is_integer(exponent)) {
      if (!is_even(exponent)) numerator_ = -numerator_;
      multiply(pool_.product(factors, -coefficient), exponent);
      return;
    }
    if (coefficient == 1 && factors.size() == 1 && multiply_power(factors[0], exponent)) return;
    powers_.push_back({base, exponent});
  }

  /// (x^a)^b, where it is x^(ab).
  bool multiply_power(const Operand& power, double exponent) {
    const auto whole = exact_product(power.factor, exponent);
    if (!whole) return false;
    const bool loses_sign = is_even(power.factor) && !is_integer(exponent);
    multiply(loses_sign ? pool_.absolute(power.node) : power.node, *whole);
    return true;
  }

  /// Adds the exponents of equal bases, of each two whose sum is exact. Integers come first, small
  /// before large, so that no base keeps two countable powers, whatever its other exponents.
  /// @return whether what is left may have to be flattened again
  bool collect() {
    std::ranges::sort(powers_, [this](const Operand& a, const Operand& b) {
      const auto bases = pool_.compare(a.node, b.node);
      if (bases != 0) return bases < 0;
      const auto order = [](double e) { return std::tuple(!is_integer(e), std::abs(e), e); };
      return order(a.factor) < order(b.factor);
    });
    bool changed = false;
    std::vector<Operand> collected;
    std::size_t first = 0;  // of this base
    for (std::size_t i = 0; i < powers_.size(); ++i) {
      if (i > 0 && powers_[i].node != powers_[i - 1].node) first = collected.size();
      if (add_exponent(collected, first, powers_[i].factor)) {
        changed = true;
      } else {
        collected.push_back(powers_[i]);
      }
    }
    powers_.clear();
    if (!changed) {
      powers_ = std::move(collected);
      return false;
    }
    for (const Operand& power : collected) multiply(power.node, power.factor);
    return true;
  }

  /// To one of the powers from `first` on; there are few, for those of one size add up exactly.
  /// @return whether there is one
  static bool add_exponent(std::vector<Operand>& powers, std::size_t first, double exponent) {
    for (std::size_t k = first; k < powers.size(); ++k) {
      const auto total = exact_sum(powers[k].factor, exponent);
      if (!total) continue;
      powers[k].factor = *total;
      if (*total == 0) powers.erase(powers.begin() + static_cast<std::ptrdiff_t>(k));
      return true;
    }
    return false;
  }

  Pool& pool_;
  double numerator_;
  double denominator_ = 1;
  std::vector<Operand> powers_;
};

Node Pool::product(std::span<const Operand> powers, double coefficient) {
  ProductBuilder builder(*this, coefficient);
  for (const Operand& power : powers) builder.multiply(power.node, power.factor);
  return builder.finish();
}

}  // namespace starpmc::expression
