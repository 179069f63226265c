#include "expression/rewrite.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>

#include "expression/number_rules.hpp"

namespace starpmc::expression {
namespace {

constexpr double kLargestSplitPower = 16;
constexpr std::size_t kMostTerms = 64;
constexpr std::size_t kMostFactors = 16;
/// Each takes a power out of two terms or more, of which a sum has at most kMostTerms kMostFactors.
constexpr std::size_t kMostTurns = kMostTerms * kMostFactors;

using Operands = std::vector<Operand>;

/// Rebuilds expressions from their leaves; `make` makes a node of rebuilt operands.
std::vector<Node> rebuild(Pool& pool, std::span<const Node> roots,
                          const std::function<Node(Node, const Operands&)>& make) {
  std::unordered_map<std::uint32_t, Node> rebuilt;
  for (const Node node : pool.reachable(roots)) {
    Operands operands;
    for (const Operand& operand : pool.operands(node)) {
      operands.push_back({rebuilt.at(operand.node.index), operand.factor});
    }
    rebuilt.emplace(node.index, make(node, operands));
  }
  std::vector<Node> results;
  for (const Node root : roots) results.push_back(rebuilt.at(root.index));
  return results;
}

/// Which expressions vary, found out once for each.
class Variation {
 public:
  Variation(const Pool& pool, const RewriteContext& context) : pool_(pool), context_(context) {}

  bool operator()(Node node) {
    if (context_.varying.empty()) return true;
    // Nodes are asked for in any order, and there are always new ones: by sweeps, no recursion.
    if (const auto known = known_.find(node.index); known != known_.end()) return known->second;
    for (const Node part : pool_.reachable({&node, 1})) {
      if (!known_.contains(part.index)) known_[part.index] = of_known_operands(part);
    }
    return known_.at(node.index);
  }

 private:
  bool of_known_operands(Node node) const {
    if (pool_.kind(node) == Kind::variable) {
      return std::ranges::find(context_.varying, pool_.name(node)) != context_.varying.end();
    }
    return std::ranges::any_of(pool_.operands(node), [this](const Operand& operand) {
      return known_.at(operand.node.index);
    });
  }

  const Pool& pool_;
  const RewriteContext& context_;
  std::unordered_map<std::uint32_t, bool> known_;
};

class CoefficientGatherer {
 public:
  CoefficientGatherer(Pool& pool, const RewriteContext& context)
      : pool_(pool), varies_(pool, context) {}

  Node make(Node node, const Operands& operands) {
    if (pool_.kind(node) == Kind::sum) return spread_coefficients(operands, pool_.value(node));
    if (pool_.kind(node) != Kind::product) return pool_.with_operands(node, operands);
    Operands powers;
    for (const Operand& power : operands) split(power, powers);
    return spread(pool_.product(powers, pool_.value(node)));
  }

 private:
  /// (f v)^n -> f^n v^n
  void split(const Operand& power, Operands& powers) {
    const bool splits = pool_.kind(power.node) == Kind::product && is_integer(power.factor) &&
                        std::abs(power.factor) <= kLargestSplitPower;
    if (!splits) {
      powers.push_back(power);
      return;
    }
    Operands fixed;
    Operands varying;
    for (const Operand& factor : pool_.operands(power.node)) {
      (varies_(factor.node) ? varying : fixed).push_back(factor);
    }
    powers.push_back({pool_.product(fixed, pool_.value(power.node)), power.factor});
    powers.push_back({pool_.product(varying), power.factor});
  }

  /// 2 (v + w) -> 2 v + 2 w within a sum
  Node spread_coefficients(const Operands& operands, double constant) {
    Operands terms;
    for (const Operand& term : operands) {
      const bool spreads = pool_.kind(term.node) == Kind::sum && varies_(term.node) &&
                           pool_.operands(term.node).size() <= kMostTerms;
      terms.push_back(spreads ? Operand{spread_number(term), 1} : term);
    }
    return pool_.sum(terms, constant);
  }

  Node spread_number(const Operand& sum) {
    Operands terms;
    for (const Operand& term : pool_.operands(sum.node)) {
      terms.push_back({term.node, term.factor * sum.factor});
    }
    return pool_.sum(terms, pool_.value(sum.node) * sum.factor);
  }

  /// f (v + w) -> f v + f w
  Node spread(Node product) {
    if (pool_.kind(product) != Kind::product) return product;
    Operands fixed;
    Operands varying;
    for (const Operand& power : pool_.operands(product)) {
      (varies_(power.node) ? varying : fixed).push_back(power);
    }
    const bool spreads = varying.size() == 1 && varying[0].factor == 1 &&
                         pool_.kind(varying[0].node) == Kind::sum &&
                         pool_.operands(varying[0].node).size() <= kMostTerms;
    if (!spreads) return product;
    const Node sum = varying[0].node;
    const Node factor = pool_.product(fixed, pool_.value(product));
    Operands terms;
    for (const Operand& term : pool_.operands(sum)) {
      terms.push_back({pool_.product({{factor, 1}, {term.node, 1}}), term.factor});
    }
    terms.push_back({factor, pool_.value(sum)});
    return pool_.sum(terms);
  }

  Pool& pool_;
  Variation varies_;
};

/// Takes common powers out of sums, that of most terms first.
class FactorTaker {
 public:
  FactorTaker(Pool& pool, const RewriteContext& context)
      : pool_(pool), context_(context), varies_(pool, context) {}

  Node make(Node node, const Operands& operands) {
    const auto is_long = [this](const Operand& term) {
      return pool_.operands(term.node).size() > kMostFactors;
    };
    if (pool_.kind(node) != Kind::sum || operands.size() > kMostTerms ||
        std::ranges::any_of(operands, is_long)) {
      return pool_.with_operands(node, operands);
    }
    turns_ = 0;
    return take_out(operands, pool_.value(node));
  }

 private:
  /// Powers of one base that have a common factor: those of one sign, or, of a positive variable
  /// of which the square is given, odd powers of both (x = x^2/x).
  struct Group {
    std::uint32_t base;
    int sign;
    bool odd;
    auto operator<=>(const Group&) const = default;
  };
  struct Candidate {
    int terms = 0;
    double exponent = 0;
  };

  Operands powers_of(Node node) const {
    if (pool_.kind(node) != Kind::product) return {{node, 1}};
    return {pool_.operands(node).begin(), pool_.operands(node).end()};
  }

  std::optional<Group> group_of(const Operand& power) {
    if (!is_countable(power.factor) || !varies_(power.node)) return std::nullopt;
    const bool squared = context_.squared_variable && pool_.kind(power.node) == Kind::variable &&
                         pool_.name(power.node) == *context_.squared_variable;
    if (squared && !is_even(power.factor)) return Group{power.node.index, 0, true};
    return Group{power.node.index, power.factor < 0 ? -1 : 1, false};
  }

  void count(const Operand& power, std::map<Group, Candidate>& candidates) {
    const auto group = group_of(power);
    if (!group) return;
    Candidate& candidate = candidates[*group];
    const double e = power.factor;
    const double before = candidate.exponent;
    ++candidate.terms;
    if (candidate.terms == 1 || ((e < 0) == (before < 0) && std::abs(e) < std::abs(before))) {
      candidate.exponent = e;
    } else if ((e < 0) != (before < 0)) {
      candidate.exponent = -1;
    }
  }

  Node take_out(const Operands& terms, double constant) {
    std::map<Group, Candidate> candidates;
    for (const Operand& term : terms) {
      for (const Operand& power : powers_of(term.node)) count(power, candidates);
    }
    const auto best = std::ranges::max_element(
        candidates, {}, [](const auto& candidate) { return candidate.second.terms; });
    if (best == candidates.end() || best->second.terms < 2 || ++turns_ > kMostTurns) {
      return pool_.sum(terms, constant);
    }
    const Node base{best->first.base};
    const double exponent = best->second.exponent;
    Operands inside;
    Operands outside;
    for (const Operand& term : terms) {
      const Operands powers = powers_of(term.node);
      const bool taken = std::ranges::any_of(powers, [&](const Operand& power) {
        return power.node == base && group_of(power) == best->first;
      });
      if (taken) {
        inside.push_back({pool_.product({{term.node, 1}, {base, -exponent}}), term.factor});
      } else {
        outside.push_back(term);
      }
    }
    // This ends. A product has one power of a group at most, for countable powers of a base are
    // collected, and their exponents' sums are exact. So inside, the term of the least exponent
    // loses its power (or, of odd powers of both signs, every term has an even one left), and no
    // term gains any; outside, two terms or more have become one. Sums that a lost factor leaves
    // bare are flattened, of which there are fewer each time. The limit only bounds the depth.
    const Node rest = take_out_of_sum(pool_.sum(inside));
    outside.push_back({pool_.product({{rest, 1}, {base, exponent}}), 1});
    return take_out_of_sum(pool_.sum(outside, constant));
  }

  Node take_out_of_sum(Node node) {
    if (pool_.kind(node) != Kind::sum) return node;
    const auto terms = pool_.operands(node);
    return take_out({terms.begin(), terms.end()}, pool_.value(node));
  }

  Pool& pool_;
  const RewriteContext& context_;
  Variation varies_;
  std::size_t turns_ = 0;  ///< of the sum that is being made
};

}  // namespace

std::vector<Node> square_even_powers(Pool& pool, std::span<const Node> roots,
                                     const RewriteContext& context) {
  if (!context.squared_variable) return {roots.begin(), roots.end()};
  std::unordered_map<std::uint32_t, bool> all_even;
  for (const Node node : pool.reachable(roots)) {
    for (const Operand& operand : pool.operands(node)) {
      const bool even = pool.kind(node) == Kind::product && is_even(operand.factor);
      const auto known = all_even.emplace(operand.node.index, even).first;
      known->second = known->second && even;
    }
  }
  for (const Node root : roots) all_even[root.index] = false;
  const auto odd_in_variable = [&](const Operand& factor) {
    return pool.kind(factor.node) == Kind::variable &&
           pool.name(factor.node) == *context.squared_variable && is_integer(factor.factor) &&
           !is_even(factor.factor);
  };
  const auto can_double = [](const Operand& factor) { return std::isfinite(2 * factor.factor); };
  return rebuild(pool, roots, [&](Node node, const Operands& rebuilt) {
    if (pool.kind(node) != Kind::product) return pool.with_operands(node, rebuilt);
    const auto before = pool.operands(node);
    Operands powers;
    for (std::size_t i = 0; i < rebuilt.size(); ++i) {
      const Node base = rebuilt[i].node;
      const bool squares = all_even.at(before[i].node.index) && pool.kind(base) == Kind::product &&
                           std::ranges::any_of(pool.operands(base), odd_in_variable) &&
                           std::ranges::all_of(pool.operands(base), can_double);
      if (!squares) {
        powers.push_back(rebuilt[i]);
        continue;
      }
      Operands squared;
      for (const Operand& factor : pool.operands(base)) {
        squared.push_back({factor.node, 2 * factor.factor});
      }
      const double coefficient = pool.value(base);
      powers.push_back({pool.product(squared, coefficient * coefficient), rebuilt[i].factor / 2});
    }
    return pool.product(powers, pool.value(node));
  });
}

std::vector<Node> gather_coefficients(Pool& pool, std::span<const Node> roots,
                                      const RewriteContext& context) {
  CoefficientGatherer gatherer(pool, context);
  return rebuild(pool, roots, [&](Node node, const Operands& operands) {
    return gatherer.make(node, operands);
  });
}

std::vector<Node> take_out_factors(Pool& pool, std::span<const Node> roots,
                                   const RewriteContext& context) {
  FactorTaker taker(pool, context);
  return rebuild(pool, roots,
                 [&](Node node, const Operands& operands) { return taker.make(node, operands); });
}

}  // namespace starpmc::expression
