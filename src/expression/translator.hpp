#pragma once

#include <unordered_map>
#include <vector>

#include "expression/pool.hpp"
#include "expression/power_table.hpp"
#include "expression/program_builder.hpp"
#include "expression/translate.hpp"

namespace starpmc::expression {

/// Translates expressions as they stand.
class Translator {
 public:
  /// @param options its inputs must name every variable
  Translator(const Pool& pool, std::span<const Node> outputs, const TranslationOptions& options);

  Program translate();

 private:
  struct SignedValue {
    Value value;
    bool negative = false;
  };
  /// Factors of a product, gathered: numerator and denominator.
  struct Quotient {
    std::vector<Value> above;
    std::vector<Value> below;
  };

  void mark_varying();
  void plan();
  void plan_product(Node node);
  bool divides_here(const Operand& power) const;
  bool is_squared(Node node) const;

  Value input(Node variable);
  Value node_value(Node node);
  Value power(Node base, double exponent);
  Value sum(Node node, bool negated);
  SignedValue add_all(std::span<const SignedValue> terms);
  SignedValue join(SignedValue a, SignedValue b);
  Value product(Node node, double coefficient);
  Value quotient(const Quotient& parts);
  Value function(Node node);

  const Pool& pool_;
  std::vector<Node> outputs_;
  TranslationOptions options_;
  ProgramBuilder builder_;
  std::vector<Node> nodes_;
  std::vector<bool> varies_;
  std::vector<int> uses_;
  /// Products in which a base has a negative exponent, by the base's number.
  std::unordered_map<std::uint32_t, int> divided_products_;
  std::unordered_map<std::uint32_t, PowerTable> powers_;
  std::vector<Value> values_;
};

}  // namespace starpmc::expression
