#pragma once

#include <map>
#include <set>

#include "expression/program_builder.hpp"

namespace starpmc::expression {

/// Integer powers beyond this are left to the operation `power`: the error of a chain grows with
/// its exponent.
inline constexpr double kLargestChainPower = 1024;

/// Makes all powers of one base that a program needs, together.
///
/// Positive integer powers come from one chain of products, negative ones from one reciprocal and
/// another chain; half-integer powers come from a square root or its reciprocal, which no integer
/// power is made of: that is a number where the base is negative, too. Powers of a base x whose
/// square is what is given need at most one reciprocal square root of it: 1/x, and x = x^2/x. Other
/// powers take one operation `power` for all that differ by integers.
class PowerTable {
 public:
  void need(double exponent) { exponents_.insert(exponent); }

  /// @param base the value of the base, or of its square
  void make(ProgramBuilder& builder, Value base, bool base_is_squared);

  Value power(double exponent) const { return values_.at(exponent); }
  bool is_made() const { return !values_.empty(); }

 private:
  void make_general_powers(ProgramBuilder& builder, Value base, bool base_is_squared);
  void make_powers(ProgramBuilder& builder, Value base);
  bool has_powers(int sign, bool halves) const;
  bool set_halves_apart(int sign);
  void make_powers_of_root(ProgramBuilder& builder, Value square);
  void multiply_up(ProgramBuilder& builder, double unit);
  void shift_general_powers(ProgramBuilder& builder);

  std::set<double> exponents_;
  std::map<double, Value> values_;
  std::map<double, std::pair<double, double>>
      shifted_;  ///< exponent: general power or root, integer power
};

}  // namespace starpmc::expression
