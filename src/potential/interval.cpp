#include "potential/interval.hpp"

#include <numbers>
#include <utility>

namespace starpmc {
namespace {

constexpr double kLargestFinite = std::numeric_limits<double>::max();
/// Numbers below are not told apart from 0: subnormal ones cost processors a hundred cycles each.
constexpr double kSmallest = 1e-280;
/// An ulp of x is at most this times |x|.
constexpr double kUlp = std::numeric_limits<double>::epsilon();

/// A number above the real one that x is the rounding of, to so many ulps. What overflowed may be
/// anything beyond the largest number.
double upwards(double x, double ulps = 1) {
  if (x == -kInfinity) return -kLargestFinite;
  if (std::abs(x) > kSmallest) return x + std::abs(x) * ulps * kUlp;
  return x < 0 ? 0 : kSmallest;
}
double downwards(double x, double ulps = 1) { return -upwards(-x, ulps); }

Interval outwards(double low, double high, double ulps = 1) {
  return {downwards(low, ulps), upwards(high, ulps)};
}

constexpr double kFunctionUlps = 16;

template <class Function>
Interval increasing(Interval x, Function function) {
  return outwards(function(x.low), function(x.high), kFunctionUlps);
}
template <class Function>
Interval decreasing(Interval x, Function function) {
  return outwards(function(x.high), function(x.low), kFunctionUlps);
}

Interval intersection(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

Interval reciprocal(Interval x) {
  if (x.low < 0 && x.high > 0) return Interval::everything();
  if (x.low == 0 && x.high == 0) return Interval::everything();
  if (x.low == 0) return {downwards(1 / x.high), kInfinity};
  if (x.high == 0) return {-kInfinity, upwards(1 / x.low)};
  return outwards(1 / x.high, 1 / x.low);
}

/// Whether offset + n period lies in x for a whole number n, or may.
bool meets(Interval x, double offset, double period) {
  const double slack = 4 * kUlp * (1 + x.magnitude() / period);
  return std::floor((x.high - offset) / period + slack) >=
         std::ceil((x.low - offset) / period - slack);
}

/// Of cos(x - turn): maxima at turn + 2 pi n.
template <class Function>
Interval wave(Interval x, double turn, Function function) {
  constexpr double kPi = std::numbers::pi;
  // beyond, the whole turns that meets() counts are no longer certain
  if (!(x.magnitude() < 1e6) || x.high - x.low >= 2 * kPi) return {-1, 1};
  const double a = function(x.low);
  const double b = function(x.high);
  Interval range = outwards(std::min(a, b), std::max(a, b), kFunctionUlps);
  if (meets(x, turn, 2 * kPi)) range.high = 1;
  if (meets(x, turn + kPi, 2 * kPi)) range.low = -1;
  return intersection(range, {-1, 1});
}

}  // namespace

double Interval::width() const {
  return is_bounded() ? upwards(high - low) : std::numeric_limits<double>::infinity();
}

double bound_product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Interval widened(Interval a, double margin) {
  if (margin == 0) return a;
  if (!(margin < kInfinity)) return Interval::everything();
  return outwards(a.low - margin, a.high + margin);
}

Interval operator-(Interval a) { return {-a.high, -a.low}; }

Interval operator+(Interval a, Interval b) {
  Interval sum = outwards(a.low + b.low, a.high + b.high);
  if (a.low >= 0 && b.low >= 0) sum.low = std::max(sum.low, 0.0);
  return sum;
}

Interval operator-(Interval a, Interval b) { return a + (-b); }

namespace {

/// By signs: in most products the ends that meet are known.
Interval product_of(Interval a, Interval b) {
  if (a.high <= 0) return -product_of(-a, b);
  if (b.high <= 0) return -product_of(a, -b);
  if (a.low < 0) std::swap(a, b);
  if (a.low >= 0) {
    return outwards(bound_product(b.low >= 0 ? a.low : a.high, b.low),
                    bound_product(a.high, b.high));
  }
  const auto [low, high] =
      std::minmax({bound_product(a.low, b.low), bound_product(a.low, b.high),
                   bound_product(a.high, b.low), bound_product(a.high, b.high)});
  return outwards(low, high);
}

}  // namespace

Interval operator*(Interval a, Interval b) {
  if (a == Interval{} || b == Interval{}) return {};
  Interval product = product_of(a, b);
  if ((a.low >= 0 && b.low >= 0) || (a.high <= 0 && b.high <= 0)) {
    product.low = std::max(product.low, 0.0);
  }
  return product;
}

Interval operator/(Interval a, Interval b) { return a * reciprocal(b); }

namespace interval {

Interval square(Interval x) {
  const double low = x.mignitude();
  const double high = x.magnitude();
  return {std::max(0.0, downwards(low * low)), upwards(high * high)};
}

Interval square_root(Interval x) {
  return {std::max(0.0, downwards(std::sqrt(std::max(x.low, 0.0)))), upwards(std::sqrt(x.high))};
}

Interval power(Interval x, Interval y) {
  const auto of = [&](double a, double b) { return std::pow(a, b); };
  if (x.low < 0) {
    // a whole power: even or odd, with a pole at 0 where it is negative
    if (y.low < 0 && x.contains(0)) return Interval::everything();
    const double a = of(x.low, y.low);
    const double b = of(x.high, y.low);
    const Interval range = outwards(std::min(a, b), std::max(a, b), kFunctionUlps);
    return x.high > 0 ? hull(range, {}) : range;
  }
  const auto [low, high] =
      std::minmax({of(x.low, y.low), of(x.low, y.high), of(x.high, y.low), of(x.high, y.high)});
  return {std::max(0.0, downwards(low, kFunctionUlps)), upwards(high, kFunctionUlps)};
}

Interval exp(Interval x) {
  const Interval range = increasing(x, [](double a) { return std::exp(a); });
  return {std::max(range.low, 0.0), range.high};
}

Interval log(Interval x) {
  return increasing({std::max(x.low, 0.0), x.high}, [](double a) { return std::log(a); });
}

Interval sin(Interval x) {
  return wave(x, std::numbers::pi / 2, [](double a) { return std::sin(a); });
}

Interval cos(Interval x) {
  return wave(x, 0, [](double a) { return std::cos(a); });
}

Interval tan(Interval x) {
  constexpr double kPi = std::numbers::pi;
  if (!(x.magnitude() < 1e6) || x.high - x.low >= kPi || meets(x, kPi / 2, kPi)) {
    return Interval::everything();
  }
  return increasing(x, [](double a) { return std::tan(a); });
}

Interval asin(Interval x) {
  return increasing(intersection(x, {-1, 1}), [](double a) { return std::asin(a); });
}

Interval acos(Interval x) {
  const Interval range =
      decreasing(intersection(x, {-1, 1}), [](double a) { return std::acos(a); });
  return {std::max(range.low, 0.0), range.high};
}

Interval atan(Interval x) {
  return increasing(x, [](double a) { return std::atan(a); });
}

Interval atan2(Interval y, Interval x) {
  const auto [low, high] = std::minmax({std::atan2(y.low, x.low), std::atan2(y.low, x.high),
                                        std::atan2(y.high, x.low), std::atan2(y.high, x.high)});
  return outwards(low, high, kFunctionUlps);
}

Interval sinh(Interval x) {
  return increasing(x, [](double a) { return std::sinh(a); });
}

Interval cosh(Interval x) {
  const Interval range =
      increasing({x.mignitude(), x.magnitude()}, [](double a) { return std::cosh(a); });
  return {std::max(range.low, 1.0), range.high};
}

Interval tanh(Interval x) {
  return intersection(increasing(x, [](double a) { return std::tanh(a); }), {-1, 1});
}

Interval erf(Interval x) {
  return intersection(increasing(x, [](double a) { return std::erf(a); }), {-1, 1});
}

Interval erfc(Interval x) {
  return intersection(decreasing(x, [](double a) { return std::erfc(a); }), {0, 2});
}

}  // namespace interval
}  // namespace starpmc
