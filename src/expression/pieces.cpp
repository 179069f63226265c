#include "expression/pieces.hpp"

#include <algorithm>

#include "expression/number_rules.hpp"

namespace starpmc::expression {
namespace {

bool makes_pieces(Operation operation) {
  return is_discontinuous(operation) || operation == Operation::abs ||
         operation == Operation::min || operation == Operation::max;
}

}  // namespace

Node PieceProducts::times(Node factor, Node slope) {
  const Node plain = pool_.product({{factor, 1}, {slope, 1}});
  if (!of(slope).has_pieces || !of(factor).may_diverge) return plain;
  if (is_piecewise_zero(slope)) {
    std::unordered_map<std::uint32_t, Node> made;
    return carried(factor, slope, made);
  }
  const Node other = of(slope).may_diverge ? unless_undefined(slope, factor) : slope;
  return pool_.product({{unless_undefined(factor, slope), 1}, {other, 1}});
}

/// Changed where it is infinite only, its inverse 0, so that it can be differentiated elsewhere.
Node PieceProducts::unless_undefined(Node node, Node other) {
  const Node zero_or_node = pool_.apply(Operation::select, {other, node, pool_.number(0)});
  return pool_.apply(Operation::select, {pool_.power(node, -1), node, zero_or_node});
}

bool PieceProducts::may_diverge(std::span<const Operand> powers) {
  return std::ranges::any_of(powers, [this](const Operand& power) {
    const Known& base = of(power.node);
    return base.may_diverge || (power.factor < 0 && base.may_vanish());
  });
}

/// A node's operands come before it, so that one sweep finds out about all that there are.
const PieceProducts::Known& PieceProducts::of(Node node) {
  while (known_.size() <= node.index) {
    known_.push_back(of_known_operands({static_cast<std::uint32_t>(known_.size())}));
  }
  return known_[node.index];
}

PieceProducts::Known PieceProducts::of_known_operands(Node node) const {
  const Kind kind = pool_.kind(node);
  Known result;
  bool inverts = false;
  if (kind == Kind::function) {
    const Operation operation = pool_.operation(node);
    result.has_pieces = makes_pieces(operation);
    inverts = operation == Operation::log || operation == Operation::power;
  }
  for (const Operand& operand : pool_.operands(node)) {
    const Known& part = known_[operand.node.index];
    const bool divides = inverts || (kind == Kind::product && operand.factor < 0);
    result.has_pieces = result.has_pieces || part.has_pieces;
    result.may_diverge = result.may_diverge || part.may_diverge || (divides && part.may_vanish());
  }
  result.sign = sign_of(node);
  return result;
}

PieceProducts::Sign PieceProducts::sign_of(Node node) const {
  const auto operands = pool_.operands(node);
  const double value = pool_.value(node);
  const auto all = [&](const auto& has) { return std::ranges::all_of(operands, has); };
  const auto sign = [this](const Operand& operand) { return known_[operand.node.index].sign; };
  const auto at_least = [](bool positive, bool not_negative) {
    return positive ? Sign::positive : not_negative ? Sign::not_negative : Sign::any;
  };
  switch (pool_.kind(node)) {
    case Kind::number:
      return at_least(value > 0, value >= 0);
    case Kind::variable:
      return Sign::any;
    case Kind::sum: {
      const bool not_negative = value >= 0 && all([&](const Operand& term) {
                                  return term.factor > 0 && sign(term) != Sign::any;
                                });
      return at_least(not_negative && value > 0, not_negative);
    }
    case Kind::product:
      return at_least(value > 0 && all([&](const Operand& power) {
                        return power.factor > 0 && sign(power) == Sign::positive;
                      }),
                      value > 0 && all([&](const Operand& power) {
                        return is_even(power.factor) || sign(power) != Sign::any;
                      }));
    case Kind::function:
      return sign_of_function(node);
  }
  return Sign::any;
}

PieceProducts::Sign PieceProducts::sign_of_function(Node node) const {
  const auto operands = pool_.operands(node);
  const auto sign = [&](std::size_t i) { return known_[operands[i].node.index].sign; };
  switch (pool_.operation(node)) {
    case Operation::cosh:
      return Sign::positive;
    case Operation::exp:
    case Operation::erfc:
    case Operation::step:
    case Operation::delta:
      return Sign::not_negative;
    case Operation::abs:
      return std::max(Sign::not_negative, sign(0));
    case Operation::max:
      return std::max(sign(0), sign(1));
    case Operation::min:
      return std::min(sign(0), sign(1));
    case Operation::select:
      return std::min(sign(1), sign(2));
    default:
      return Sign::any;
  }
}

/// A choice of pieces of which one is 0.
bool PieceProducts::is_piecewise_zero(Node slope) const {
  if (pool_.kind(slope) != Kind::function || pool_.operation(slope) != Operation::select) {
    return false;
  }
  const auto pieces = pool_.operands(slope).subspan(1);
  return std::ranges::any_of(
      pieces, [this](const Operand& piece) { return pool_.is_number(piece.node, 0); });
}

/// factor * select(c, x, 0) as select(c, factor * x, 0).
Node PieceProducts::carried(Node factor, Node slope,
                            std::unordered_map<std::uint32_t, Node>& made) {
  if (!is_piecewise_zero(slope)) return times(factor, slope);
  if (const auto found = made.find(slope.index); found != made.end()) return found->second;
  const Node condition = pool_.operands(slope)[0].node;
  const Node where_not_zero = pool_.operands(slope)[1].node;
  const Node where_zero = pool_.operands(slope)[2].node;
  const Node a = carried(factor, where_not_zero, made);
  const Node b = carried(factor, where_zero, made);
  const Node result = pool_.apply(Operation::select, {condition, a, b});
  made.emplace(slope.index, result);
  return result;
}

}  // namespace starpmc::expression
