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
        if (std::abs(factor) != 1) {
          const bool negative = pool_.leads_with_minus(node);
          terms_.push_back(
              {negative ? pool_.sum({{node, -1}}) : node, negative ? -factor : factor});
          return;
        }
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
    // Collecting may leave a sum with the coefficient 1, which is to be flattened: then once more.
    while (collect()) {
    }
    const double constant = in_range(high_ + low_, true);
    if (terms_.empty()) return pool_.number(constant);
    if (terms_.size() == 1 && constant == 0) return pool_.scale(terms_[0].node, terms_[0].factor);
    return pool_.intern({.kind = Kind::sum, .value = constant + 0.0, .operands = terms_});
  }

 private:
  /// Sorts, and adds the coefficients of equal terms.
  /// @return whether what is left may have to be flattened again
  bool collect() {
    std::ranges::sort(terms_, [this](const Operand& a, const Operand& b) {
      return pool_.compare(a.node, b.node) < 0;
    });
    bool changed = false;
    std::vector<Operand> collected;
    for (const Operand& term : terms_) {
      if (!collected.empty() && collected.back().node == term.node) {
        changed = true;
        collected.back().factor = in_range(collected.back().factor + term.factor, true);
        continue;
      }
      if (!collected.empty() && collected.back().factor == 0) collected.pop_back();
      collected.push_back(term);
    }
    if (!collected.empty() && collected.back().factor == 0) collected.pop_back();
    terms_.clear();
    if (!changed) {
      terms_ = std::move(collected);
      return false;
    }
    for (const Operand& term : collected) add(term.node, term.factor);
    return true;
  }

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
