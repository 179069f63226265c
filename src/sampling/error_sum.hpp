#pragma once

#include <functional>
#include <map>

namespace starpmc {

/// Bounds the sum of the errors of a step's pairs, from the number of pairs to be expected and the
/// most that each may err.
///
/// The statistical assumption: errors of different pairs are independent and as often positive as
/// negative on average (expectation 0), and neighbours as independent as in an ideal gas. Then
/// (Hoeffding, Chernoff)
///   P(|sum| > t) <= 2 exp(K(x) - x t),  K(x) = sum_c n_c (cosh(x e_c) - 1)
/// for every x > 0, with n_c pairs of error e_c. The bound is the least t that makes it 2 exp(-18),
/// 4e-8: of many small errors this is six standard deviations, of a few large ones as many of them
/// as may meet.
class ErrorSum {
 public:
  /// @param pairs      expected in a step
  /// @param difference the most that one errs
  void add(double pairs, double difference);
  /// Infinite where the error of a pair is. The largest errors, of 1e-9 pairs a step, are left out.
  double bound() const;

 private:
  std::map<int, double, std::greater<>> pairs_;  ///< by the logarithm of the error, rounded up
  double unbounded_ = 0;                         ///< pairs
};

}  // namespace starpmc
