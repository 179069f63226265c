#include <algorithm>
#include <cmath>

#include "expression/number_rules.hpp"
#include "expression/pool.hpp"

namespace starpmc::expression {

/// Gathers the terms of a sum, flat; the constant in twice the precision, to be rounded once.
class SumBuilder {
 public:
  SumBuilder(Pool& pool, double constant) : pool_(pool), high_(constant) {}

  void add(Node node, double factor) {
    if (factor == 0) return;
    switch (pool_.kind(node)) {
      case Kind::number:
        add_constant(factor, pool_.value(node));
        return;
      case Kind::sum:
        if (std::abs(factor) != 1) break;
        add_constant(factor, pool_.value(node));
        for (const Operand& term : pool_.operands(node)) {
          terms_.push_back({term.node, factor * term.factor});
        }
        return;
      case Kind::product:
        if (pool_.value(node) != 1) {
          const double whole = in_range(factor * pool_.value(node), false);
          // A node without a coefficient is none of these again, or a sum: once more at most.
          add(pool_.product(pool_.operands(node)), whole);
          return;
        }
        break;
      default:
        break;
    }
    terms_.push_back({node, factor});
  }

  Node finish() {
    std::ranges::sort(terms_, [this](const Operand& a, const Operand& b) {
      return pool_.compare(a.node, b.node) < 0;
    });
    std::vector<Operand> collected;
    for (const Operand& term : terms_) {
      if (!collected.empty() && collected.back().node == term.node) {
        collected.back().factor = in_range(collected.back().factor + term.factor, true);
      } else {
        if (!collected.empty() && collected.back().factor == 0) collected.pop_back();
        collected.push_back(term);
      }
    }
    if (!collected.empty() && collected.back().factor == 0) collected.pop_back();
    const double constant = in_range(high_ + low_, true);
    if (collected.empty()) return pool_.number(constant);
    if (collected.size() == 1 && constant == 0) {
      return pool_.scale(collected[0].node, collected[0].factor);
    }
    return pool_.intern({.kind = Kind::sum, .value = constant + 0.0, .operands = collected});
  }

 private:
  void add_constant(double factor, double value) {
    const double product = in_range(factor * value, true);
    const double sum = in_range(high_ + product, true);
    const double share = sum - high_;
    low_ += ((high_ - (sum - share)) + (product - share)) + std::fma(factor, value, -product);
    high_ = sum;
  }

  Pool& pool_;
  double high_;
  double low_ = 0;
  std::vector<Operand> terms_;
};

Node Pool::sum(std::span<const Operand> terms, double constant) {
  SumBuilder builder(*this, constant);
  for (const Operand& term : terms) builder.add(term.node, term.factor);
  return builder.finish();
}

}  // namespace starpmc::expression
