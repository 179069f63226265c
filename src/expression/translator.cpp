#include "expression/translator.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "expression/number_rules.hpp"

namespace starpmc::expression {

Translator::Translator(const Pool& pool, std::span<const Node> outputs,
                       const TranslationOptions& options)
    : pool_(pool),
      outputs_(outputs.begin(), outputs.end()),
      options_(options),
      builder_(options.inputs),
      nodes_(pool.reachable(outputs)),
      varies_(pool.size()),
      uses_(pool.size()),
      values_(pool.size()) {}

Program Translator::translate() {
  mark_varying();
  plan();
  for (const Node node : nodes_) values_[node.index] = node_value(node);
  std::vector<Value> results;
  for (const Node output : outputs_) results.push_back(power(output, 1));
  return builder_.finish(results);
}

bool Translator::is_squared(Node node) const {
  return options_.squared_variable && pool_.kind(node) == Kind::variable &&
         pool_.name(node) == *options_.squared_variable;
}

void Translator::mark_varying() {
  for (const Node node : nodes_) {
    if (pool_.kind(node) == Kind::variable) {
      const std::string_view name =
          is_squared(node) ? std::string_view(options_.square_input) : pool_.name(node);
      varies_[node.index] = options_.varying.empty() ||
                            std::ranges::find(options_.varying, name) != options_.varying.end();
    } else {
      varies_[node.index] = std::ranges::any_of(
          pool_.operands(node),
          [this](const Operand& operand) { return varies_[operand.node.index]; });
    }
  }
}

/// Finds out which powers of each base there will be, before the first is made.
void Translator::plan() {
  for (const Node output : outputs_) ++uses_[output.index];
  for (const Node node : nodes_) {
    for (const Operand& operand : pool_.operands(node)) {
      ++uses_[operand.node.index];
      if (pool_.kind(node) == Kind::product && operand.factor < 0) {
        ++divided_products_[operand.node.index];
      }
    }
  }
  for (const Node node : nodes_) {
    if (pool_.kind(node) == Kind::product) {
      plan_product(node);
    } else if (is_squared(node)) {
      const bool bare = std::ranges::find(outputs_, node) != outputs_.end();
      if (bare) powers_[node.index].need(1);
    } else {
      for (const Operand& operand : pool_.operands(node)) {
        if (is_squared(operand.node)) powers_[operand.node.index].need(1);
      }
    }
  }
}

void Translator::plan_product(Node node) {
  for (const Operand& power : pool_.operands(node)) {
    if (power.factor == 1 && !is_squared(power.node)) continue;
    const double exponent = divides_here(power) ? -power.factor : power.factor;
    if (exponent != 1 || is_squared(power.node)) powers_[power.node.index].need(exponent);
  }
}

/// Whether a product is divided by this power, rather than multiplied by a reciprocal: where it is
/// the only one that the base divides, which saves an instruction.
bool Translator::divides_here(const Operand& power) const {
  if (power.factor >= 0 || divided_products_.at(power.node.index) > 1) return false;
  const double least = is_squared(power.node) ? 2 : 1;
  return is_integer(power.factor / least) && -power.factor <= kLargestChainPower;
}

Value Translator::input(Node variable) {
  const std::string_view name =
      is_squared(variable) ? std::string_view(options_.square_input) : pool_.name(variable);
  const auto found = std::ranges::find(options_.inputs, name);
  if (found == options_.inputs.end()) {
    throw InputError("expression", "a variable that is not given", name,
                     "use the variables that are given, or define it");
  }
  return builder_.input(static_cast<std::size_t>(found - options_.inputs.begin()));
}

Value Translator::node_value(Node node) {
  switch (pool_.kind(node)) {
    case Kind::number:
      return builder_.constant(pool_.value(node));
    case Kind::variable: {
      const Value value = input(node);
      if (!is_squared(node)) return value;
      // Its powers are made first of all, from the input; the variable itself is one of them.
      values_[node.index] = value;
      PowerTable& table = powers_[node.index];
      table.make(builder_, value, true);
      return value;
    }
    case Kind::sum:
      return sum(node, false);
    case Kind::product:
      return product(node, pool_.value(node));
    case Kind::function:
      return function(node);
  }
  return {};
}

/// A base's power; all that are planned are made with the first.
Value Translator::power(Node base, double exponent) {
  if (exponent == 1 && !is_squared(base)) return values_[base.index];
  PowerTable& table = powers_[base.index];
  if (!table.is_made()) table.make(builder_, values_[base.index], false);
  return table.power(exponent);
}

Value Translator::sum(Node node, bool negated) {
  std::vector<SignedValue> fixed;
  std::vector<SignedValue> varying;
  for (const Operand& term : pool_.operands(node)) {
    const double size = std::abs(term.factor);
    // Its coefficient joins a product's own fixed factors, unless the product is used elsewhere and
    // nothing is computed ahead.
    const bool inlined = pool_.kind(term.node) == Kind::product &&
                         (uses_[term.node.index] == 1 || !options_.varying.empty());
    Value value;
    if (inlined) {
      value = product(term.node, size);
    } else {
      value = power(term.node, 1);
      if (size != 1) value = builder_.emit(Operation::multiply, builder_.constant(size), value);
    }
    (varies_[term.node.index] ? varying : fixed).push_back({value, (term.factor < 0) != negated});
  }
  const double constant = pool_.value(node);
  if (constant != 0) {
    fixed.push_back({builder_.constant(std::abs(constant)), (constant < 0) != negated});
  }
  SignedValue total;
  if (varying.empty() || fixed.empty()) {
    total = add_all(varying.empty() ? fixed : varying);
  } else {
    total = join(add_all(varying), add_all(fixed));
  }
  return total.negative ? builder_.emit(Operation::negate, total.value) : total.value;
}

Translator::SignedValue Translator::add_all(std::span<const SignedValue> terms) {
  SignedValue total = terms.front();
  for (const SignedValue term : terms.subspan(1)) total = join(total, term);
  return total;
}

Translator::SignedValue Translator::join(SignedValue a, SignedValue b) {
  if (a.negative == b.negative) {
    return {builder_.emit(Operation::add, a.value, b.value), a.negative};
  }
  if (a.negative) std::swap(a, b);
  return {builder_.emit(Operation::subtract, a.value, b.value), false};
}

/// What does not vary is multiplied and divided first. A minus sign goes to where it costs nothing:
/// to a sum that no other expression has, or to what does not vary.
Value Translator::product(Node node, double coefficient) {
  Quotient fixed;
  Quotient varying;
  bool negative = coefficient == -1;
  for (const Operand& power : pool_.operands(node)) {
    Quotient& part = varies_[power.node.index] ? varying : fixed;
    if (divides_here(power)) {
      part.below.push_back(this->power(power.node, -power.factor));
    } else if (negative && power.factor == 1 && pool_.kind(power.node) == Kind::sum &&
               uses_[power.node.index] == 1) {
      part.above.push_back(sum(power.node, true));
      negative = false;
    } else {
      part.above.push_back(this->power(power.node, power.factor));
    }
  }
  if (std::abs(coefficient) != 1) {
    Quotient& part = options_.varying.empty() ? varying : fixed;
    part.above.push_back(builder_.constant(coefficient));
  }
  Value result;
  if (fixed.above.empty() && fixed.below.empty()) {
    result = quotient(varying);
  } else if (varying.above.empty() && varying.below.empty()) {
    result = quotient(fixed);
  } else {
    std::vector<Value> above{quotient(fixed)};
    if (negative) above[0] = builder_.emit(Operation::negate, above[0]);
    negative = false;
    if (!varying.above.empty()) above.push_back(builder_.multiply_all(varying.above));
    result = quotient({above, varying.below});
  }
  return negative ? builder_.emit(Operation::negate, result) : result;
}

Value Translator::quotient(const Quotient& parts) {
  if (parts.below.empty()) return builder_.multiply_all(parts.above);
  const Value below = builder_.multiply_all(parts.below);
  if (parts.above.empty()) return builder_.emit(Operation::reciprocal, below);
  return builder_.emit(Operation::divide, builder_.multiply_all(parts.above), below);
}

Value Translator::function(Node node) {
  std::array<Value, 3> arguments{};
  const auto operands = pool_.operands(node);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    arguments[i] = power(operands[i].node, 1);
  }
  return builder_.emit(pool_.operation(node), arguments[0], arguments[1], arguments[2]);
}

}  // namespace starpmc::expression
