#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "expression/pool.hpp"

namespace starpmc::expression {

/// Products of the chain rule f'(a) a' where a is made of pieces (min, max, select, abs, step,
/// ...). In a piece where a stays the same, f'(a) a' is 0 over the reals, but 0 times infinity in
/// floating-point arithmetic where f'(a) diverges there, as that of sqrt(max(0, x)) does below 0.
class PieceProducts {
 public:
  explicit PieceProducts(Pool& pool) : pool_(pool) {}

  /// factor * slope, where 0 times infinity is 0. A plain product where the factor cannot diverge
  /// because of a piece.
  Node times(Node factor, Node slope);
  /// Whether a product of powers has a negative power, a logarithm or a general power of something
  /// with pieces: infinite where that is 0.
  bool may_diverge(std::span<const Operand> powers);

 private:
  /// In ascending order; positive: at least some number above 0.
  enum class Sign : std::uint8_t { any, not_negative, positive };
  struct Known {
    bool has_pieces = false;
    bool may_diverge = false;
    Sign sign = Sign::any;
    bool may_vanish() const { return has_pieces && sign != Sign::positive; }
  };
  const Known& of(Node node);
  Known of_known_operands(Node node) const;
  Sign sign_of(Node node) const;
  Sign sign_of_function(Node node) const;
  bool is_piecewise_zero(Node slope) const;
  /// The node, or 0 where it is infinite and the other one is 0.
  Node unless_undefined(Node node, Node other);
  Node carried(Node factor, Node slope, std::unordered_map<std::uint32_t, Node>& made);

  Pool& pool_;
  std::vector<Known> known_;
};

}  // namespace starpmc::expression
