#include "potential/cutoff_treatment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"

namespace starpmc {
namespace {

using expression::Kind;
using expression::Node;
using expression::Operand;
using expression::Pool;

/// A function at one distance. Parts of it may be infinite there, as beyond 5 A the exponent in
/// exp(-1/max(0, 5 - r)): what depends on the distance only is then computed as kernels do.
class AtDistance {
 public:
  AtDistance(Pool& pool, Node function, double distance)
      : pool_(pool),
        nodes_(pool.reachable({&function, 1})),
        function_(function),
        distance_(distance) {
    std::vector<Node> fixed;
    for (const Node node : nodes_) {
      if (of_distance_only(node)) fixed.push_back(node);
    }
    const auto values = expression::evaluate<double>(pool, fixed, {{"r", distance}});
    for (std::size_t i = 0; i < fixed.size(); ++i) values_[fixed[i].index] = values[i];
  }

  /// @param problem where it is not finite
  /// @throws InputError where the function is not finite
  Node node(const std::string& problem) {
    for (const Node old : nodes_) {
      try {
        replaced_.emplace(old.index, made(old));
      } catch (const expression::ConstantError&) {
        // whether this part is needed, what it is a part of will show
        const auto value = values_.find(old.index);
        if (value == values_.end() || !std::isfinite(value->second)) continue;
        replaced_.emplace(old.index, pool_.number(value->second));
      }
    }
    const auto found = replaced_.find(function_.index);
    if (found != replaced_.end()) return found->second;
    const auto value = values_.find(function_.index);
    throw InputError("expression", fmt::format("{} at the cutoff {} A", problem, distance_),
                     value == values_.end() ? "" : fmt::format("{}", value->second),
                     "the treatment of the cutoff needs it: change the expression, the cutoff or "
                     "the treatment");
  }

 private:
  /// Asked for operands first.
  bool of_distance_only(Node node) {
    const bool result =
        pool_.kind(node) == Kind::variable
            ? pool_.name(node) == "r"
            : std::ranges::all_of(pool_.operands(node), [this](const Operand& operand) {
                return distance_only_.contains(operand.node.index);
              });
    if (result) distance_only_.insert(node.index);
    return result;
  }

  Node replaced(Node old) const {
    const auto found = replaced_.find(old.index);
    if (found != replaced_.end()) return found->second;
    throw expression::ConstantError("expression", "not finite at the cutoff", "", "");
  }

  Node made(Node old) {
    if (pool_.kind(old) == Kind::number) return old;
    if (pool_.kind(old) == Kind::variable) {
      const auto value = values_.find(old.index);
      return value == values_.end() ? old : pool_.number(value->second);
    }
    if (pool_.kind(old) == Kind::function && pool_.operation(old) == Operation::select) {
      const Node condition = replaced(pool_.operands(old)[0].node);
      if (pool_.kind(condition) == Kind::number) {
        return replaced(pool_.operands(old)[pool_.value(condition) != 0 ? 1 : 2].node);
      }
    }
    std::vector<Operand> operands;
    for (const Operand& operand : pool_.operands(old)) {
      operands.push_back({replaced(operand.node), operand.factor});
    }
    return pool_.with_operands(old, operands);
  }

  Pool& pool_;
  std::vector<Node> nodes_;
  Node function_;
  double distance_;
  std::unordered_set<std::uint32_t> distance_only_;
  std::unordered_map<std::uint32_t, double> values_;
  std::unordered_map<std::uint32_t, Node> replaced_;
};

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
      now = pool.with_operands(old, operands);
    }
    replaced.emplace(old.index, now);
  }
  return replaced.at(node.index);
}

Node treat(Pool& pool, Node function, const Cutoff& cutoff) {
  const auto at_cutoff = [&](Node node, const char* problem) {
    return AtDistance(pool, node, cutoff.distance).node(problem);
  };
  constexpr const char* kNotFinite = "not finite";
  switch (cutoff.treatment) {
    case CutoffTreatment::truncate:
      break;
    case CutoffTreatment::shift:
      return pool.sum({{function, 1}, {at_cutoff(function, kNotFinite), -1}});
    case CutoffTreatment::force_shift: {
      const Node value = at_cutoff(function, kNotFinite);
      const Node slope = at_cutoff(expression::derivative(pool, function, "r"),
                                   "its derivative, which force-shift needs, is not finite");
      const Node beyond = pool.sum({{pool.variable("r"), 1}}, -cutoff.distance);
      return pool.sum({{function, 1}, {value, -1}, {pool.product({{beyond, 1}, {slope, 1}}), -1}});
    }
    case CutoffTreatment::switching:
      return pool.product({{function, 1}, {switching_function(pool, cutoff), 1}});
  }
  return function;
}

}  // namespace starpmc
