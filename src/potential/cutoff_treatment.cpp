#include "potential/cutoff_treatment.hpp"

#include <unordered_map>
#include <vector>

#include "expression/derivative.hpp"

namespace starpmc {
namespace {

using expression::Kind;
using expression::Node;
using expression::Operand;
using expression::Pool;

Node with_operands(Pool& pool, Node node, const std::vector<Operand>& operands) {
  switch (pool.kind(node)) {
    case Kind::sum:
      return pool.sum(operands, pool.value(node));
    case Kind::product:
      return pool.product(operands, pool.value(node));
    default:
      break;
  }
  std::vector<Node> arguments;
  for (const Operand& operand : operands) arguments.push_back(operand.node);
  return pool.apply(pool.operation(node), arguments);
}

/// 1 - 10 x^3 + 15 x^4 - 6 x^5.
Node switching_function(Pool& pool, const Cutoff& cutoff) {
  const double width = cutoff.distance - cutoff.switch_distance;
  const Node r = pool.variable("r");
  const Node x = pool.apply(
      Operation::max,
      {pool.number(0), pool.scale(pool.sum({{r, 1}}, -cutoff.switch_distance), 1 / width)});
  return pool.sum({{pool.power(x, 3), -10}, {pool.power(x, 4), 15}, {pool.power(x, 5), -6}}, 1);
}

}  // namespace

Node substitute(Pool& pool, Node node, const Substitution& substitution) {
  std::unordered_map<std::uint32_t, Node> replaced;
  for (const Node old : pool.reachable({&node, 1})) {
    Node now = old;
    if (pool.kind(old) == Kind::variable) {
      now = substitution(pool.name(old)).value_or(old);
    } else if (pool.kind(old) != Kind::number) {
      std::vector<Operand> operands;
      for (const Operand& operand : pool.operands(old)) {
        operands.push_back({replaced.at(operand.node.index), operand.factor});
      }
      now = with_operands(pool, old, operands);
    }
    replaced.emplace(old.index, now);
  }
  return replaced.at(node.index);
}

Node treat(Pool& pool, Node function, const Cutoff& cutoff) {
  const auto at_cutoff = [&](Node node) {
    return substitute(pool, node, [&](std::string_view name) {
      return name == "r" ? std::optional(pool.number(cutoff.distance)) : std::nullopt;
    });
  };
  switch (cutoff.treatment) {
    case CutoffTreatment::truncate:
      break;
    case CutoffTreatment::shift:
      return pool.sum({{function, 1}, {at_cutoff(function), -1}});
    case CutoffTreatment::force_shift: {
      const Node slope = at_cutoff(expression::derivative(pool, function, "r"));
      const Node beyond = pool.sum({{pool.variable("r"), 1}}, -cutoff.distance);
      return pool.sum({{function, 1},
                       {at_cutoff(function), -1},
                       {pool.product({{beyond, 1}, {slope, 1}}), -1}});
    }
    case CutoffTreatment::switching:
      return pool.product({{function, 1}, {switching_function(pool, cutoff), 1}});
  }
  return function;
}

}  // namespace starpmc
