#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

/// Interval arithmetic over fp64 numbers, rounded outwards: results enclose those over the real
/// numbers, of all arguments in the operands. An end may be infinite; no result is empty or NaN.
namespace starpmc {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Interval {
  double low = 0;
  double high = 0;

  static constexpr Interval point(double x) { return {x, x}; }
  static constexpr Interval everything() { return {-kInfinity, kInfinity}; }
  bool is_point() const { return low == high; }
  bool is_bounded() const { return std::isfinite(low) && std::isfinite(high); }
  bool contains(double x) const { return low <= x && x <= high; }
  /// The largest and the least magnitude.
  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
  double mignitude() const { return contains(0) ? 0 : std::min(std::abs(low), std::abs(high)); }
  /// Rounded up; infinite where an end is.
  double width() const;

  bool operator==(const Interval&) const = default;
};

/// a b, where 0 times infinity is 0: of bounds, the product of nothing and anything.
double bound_product(double a, double b);

Interval hull(Interval a, Interval b);
/// Both ends moved outwards.
Interval widened(Interval a, double margin);

Interval operator+(Interval a, Interval b);
Interval operator-(Interval a, Interval b);
Interval operator-(Interval a);
Interval operator*(Interval a, Interval b);
/// Everything where the divisor contains 0 inside; half of it where 0 is its end.
Interval operator/(Interval a, Interval b);

/// Ranges of functions over the part of the operand where they are defined; the operand must have
/// such a part. The C library's functions are trusted to 16 units in the last place (its manual's
/// "Errors in Math Functions" lists at most 5 for these).
namespace interval {

Interval square(Interval x);
Interval square_root(Interval x);
/// x^y for a base of at least 0, or a whole number y.
Interval power(Interval x, Interval y);
Interval exp(Interval x);
Interval log(Interval x);
Interval sin(Interval x);
Interval cos(Interval x);
/// Everything where there is a pole.
Interval tan(Interval x);
Interval asin(Interval x);
Interval acos(Interval x);
Interval atan(Interval x);
/// Angles of the points (x, y) of a rectangle that the negative x axis does not cross.
Interval atan2(Interval y, Interval x);
Interval sinh(Interval x);
Interval cosh(Interval x);
Interval tanh(Interval x);
Interval erf(Interval x);
Interval erfc(Interval x);

}  // namespace interval
}  // namespace starpmc
