#include "expression/derivative.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numbers>
#include <vector>

#include "expression/number_rules.hpp"
#include "expression/pieces.hpp"

namespace starpmc::expression {
namespace {

class Differentiator {
 public:
  Differentiator(Pool& pool, std::string_view variable)
      : pool_(pool),
        pieces_(pool),
        variable_(variable),
        derivatives_(pool.size(), pool.number(0)) {}

  Node differentiate(Node root) {
    for (const Node node : pool_.reachable({&root, 1})) {
      derivatives_[node.index] = of_node(node);
    }
    return derivatives_[root.index];
  }

 private:
  Node of(Node node) const { return derivatives_[node.index]; }
  bool varies(Node node) const { return !pool_.is_number(of(node), 0); }

  Node of_node(Node node) {
    switch (pool_.kind(node)) {
      case Kind::number:
        break;
      case Kind::variable:
        return pool_.number(pool_.name(node) == variable_ ? 1 : 0);
      case Kind::sum:
        return of_sum(node);
      case Kind::product:
        return of_product(node);
      case Kind::function:
        return of_function(node);
    }
    return pool_.number(0);
  }

  Node of_sum(Node node) {
    std::vector<Operand> terms;
    for (const Operand& term : pool_.operands(node)) {
      if (varies(term.node)) terms.push_back({of(term.node), term.factor});
    }
    return pool_.sum(terms);
  }

  /// c b_1^e_1 b_2^e_2 ...: each factor differentiated, times all others.
  Node of_product(Node node) {
    const std::vector<Operand> powers(pool_.operands(node).begin(), pool_.operands(node).end());
    std::vector<Operand> terms;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (!varies(powers[i].node)) continue;
      std::vector<Operand> rest = powers;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      terms.push_back({times(rest, of_power(powers[i]), pool_.value(node)), 1});
    }
    return pool_.sum(terms);
  }

  Node of_power(const Operand& power) {
    if (power.factor == 1) return of(power.node);
    const std::vector<Operand> factors = lowered(power);
    // with pieces all of the base's derivative decides whether it is 0
    if (pool_.kind(power.node) == Kind::product && !pieces_.may_diverge(factors)) {
      return of_power_of_product(power);
    }
    return times(factors, of(power.node), power.factor);
  }

  /// factor powers[0] powers[1] ... slope; 0 where the slope is 0 in a piece.
  Node times(const std::vector<Operand>& powers, Node slope, double factor) {
    if (pieces_.may_diverge(powers)) return pieces_.times(pool_.product(powers, factor), slope);
    std::vector<Operand> all = powers;
    all.push_back({slope, 1});
    return pool_.product(all, factor);
  }

  /// b^(e-1); as b^e b^-1 where an integer e is so large that e - 1 has to be rounded.
  static std::vector<Operand> lowered(const Operand& power) {
    if (is_integer(power.factor) && !is_countable(power.factor)) return {power, {power.node, -1}};
    return {{power.node, power.factor - 1}};
  }

  Node of_power_of_product(const Operand& power) {
    const auto base = pool_.operands(power.node);
    const std::vector<Operand> factors(base.begin(), base.end());
    const double coefficient = pool_.value(power.node);
    std::vector<Operand> terms;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto& [factor, exponent] = factors[i];
      if (!varies(factor)) continue;
      if (exponent < 0) {
        terms.push_back({pool_.product({{power.node, power.factor}, {of(factor), 1}, {factor, -1}},
                                       power.factor * exponent),
                         1});
      } else {
        std::vector<Operand> rest = lowered(power);
        for (std::size_t k = 0; k < factors.size(); ++k) {
          if (k != i) rest.push_back(factors[k]);
        }
        std::ranges::copy(lowered(factors[i]), std::back_inserter(rest));
        rest.push_back({of(factor), 1});
        terms.push_back({pool_.product(rest, power.factor * exponent * coefficient), 1});
      }
    }
    return pool_.sum(terms);
  }

  Node of_function(Node node) {
    const auto operands = pool_.operands(node);
    std::array<Node, 3> arguments;
    bool any = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      arguments[i] = operands[i].node;
      any = any || varies(arguments[i]);
    }
    if (!any) return pool_.number(0);
    const auto [a, b, c] = arguments;
    switch (pool_.operation(node)) {
      case Operation::power:
        return of_general_power(node, a, b);
      case Operation::atan2:  // (a' b - b' a) / (a^2 + b^2)
        return times({{pool_.sum({{square(a), 1}, {square(b), 1}}), -1}},
                     pool_.sum({{pool_.product({{of(a), 1}, {b, 1}}), 1},
                                {pool_.product({{of(b), 1}, {a, 1}}), -1}}),
                     1);
      case Operation::min:
        return piecewise(step_of_difference(a, b), of(b), of(a));
      case Operation::max:
        return piecewise(step_of_difference(a, b), of(a), of(b));
      case Operation::select:
        return piecewise(a, of(b), of(c));
      default:
        return pieces_.times(of_unary(node, a), of(a));
    }
  }

  /// (a^b)' = b a^(b-1) a' + log(a) a^b b'
  Node of_general_power(Node node, Node a, Node b) {
    std::vector<Operand> terms;
    if (varies(a)) {
      const Node less = pool_.sum({{b, 1}}, -1);
      terms.push_back({times({{b, 1}, {pool_.power(a, less), 1}}, of(a), 1), 1});
    }
    if (varies(b)) {
      terms.push_back({times({{b_slope_factor(node, a), 1}}, of(b), 1), 1});
    }
    return pool_.sum(terms);
  }

  /// log(a) a^b, and 0 where a is 0 in a piece: infinity times 0.
  Node b_slope_factor(Node power, Node a) {
    return pieces_.times(pool_.apply(Operation::log, {a}), power);
  }

  Node of_unary(Node node, Node a) {
    const auto f = [&](Operation operation) { return pool_.apply(operation, {a}); };
    const Node one_minus_square = pool_.sum({{square(a), -1}}, 1);
    switch (pool_.operation(node)) {
      case Operation::exp:
        return node;
      case Operation::log:
        return pool_.power(a, -1);
      case Operation::sin:
        return f(Operation::cos);
      case Operation::cos:
        return pool_.scale(f(Operation::sin), -1);
      case Operation::tan:
        return pool_.sum({{square(node), 1}}, 1);
      case Operation::asin:
        return pool_.power(one_minus_square, -0.5);
      case Operation::acos:
        return pool_.scale(pool_.power(one_minus_square, -0.5), -1);
      case Operation::atan:
        return pool_.power(pool_.sum({{square(a), 1}}, 1), -1);
      case Operation::sinh:
        return f(Operation::cosh);
      case Operation::cosh:
        return f(Operation::sinh);
      case Operation::tanh:
        return of_tanh(a);
      case Operation::erf:
        return gaussian(a, 2 * std::numbers::inv_sqrtpi);
      case Operation::erfc:
        return gaussian(a, -2 * std::numbers::inv_sqrtpi);
      case Operation::abs:
        return pool_.sum({{f(Operation::step), 2}}, -1);
      default:  // step, delta, floor, ceil
        return pool_.number(0);
    }
  }

  /// 1/cosh(a)^2 as 4 u/(1 + u)^2, u = exp(-2 |a|): nothing cancels where tanh is nearly 1, as
  /// 1 - tanh(a)^2 does, and nothing overflows.
  Node of_tanh(Node a) {
    const Node size = pool_.apply(Operation::abs, {a});
    const Node u = pool_.apply(Operation::exp, {pool_.scale(size, -2)});
    return pool_.product({{u, 1}, {pool_.sum({{u, 1}}, 1), -2}}, 4);
  }

  Node gaussian(Node a, double factor) {
    return pool_.scale(pool_.apply(Operation::exp, {pool_.scale(square(a), -1)}), factor);
  }

  Node square(Node node) { return pool_.power(node, 2); }

  Node step_of_difference(Node a, Node b) {
    return pool_.apply(Operation::step, {pool_.sum({{a, 1}, {b, -1}})});
  }

  Node piecewise(Node condition, Node where_not_zero, Node where_zero) {
    return pool_.apply(Operation::select, {condition, where_not_zero, where_zero});
  }

  Pool& pool_;
  PieceProducts pieces_;
  std::string_view variable_;
  std::vector<Node> derivatives_;
};

}  // namespace

Node derivative(Pool& pool, Node node, std::string_view variable) {
  return Differentiator(pool, variable).differentiate(node);
}

}  // namespace starpmc::expression
