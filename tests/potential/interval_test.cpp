#include "potential/interval.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace starpmc {
namespace {

struct Unary {
  std::string name;
  std::function<Interval(Interval)> range;
  std::function<long double(long double)> value;
  double low;
  double high;
};

const std::vector<Unary>& functions() {
  using R = long double;
  static const std::vector<Unary> all{
      {"square", interval::square, [](R x) { return x * x; }, -3, 3},
      {"sqrt", interval::square_root, [](R x) { return std::sqrt(x); }, 0, 9},
      {"exp", interval::exp, [](R x) { return std::exp(x); }, -700, 700},
      {"log", interval::log, [](R x) { return std::log(x); }, 0, 9},
      {"sin", interval::sin, [](R x) { return std::sin(x); }, -20, 20},
      {"cos", interval::cos, [](R x) { return std::cos(x); }, -20, 20},
      {"tan", interval::tan, [](R x) { return std::tan(x); }, -20, 20},
      {"asin", interval::asin, [](R x) { return std::asin(x); }, -1, 1},
      {"acos", interval::acos, [](R x) { return std::acos(x); }, -1, 1},
      {"atan", interval::atan, [](R x) { return std::atan(x); }, -9, 9},
      {"sinh", interval::sinh, [](R x) { return std::sinh(x); }, -20, 20},
      {"cosh", interval::cosh, [](R x) { return std::cosh(x); }, -20, 20},
      {"tanh", interval::tanh, [](R x) { return std::tanh(x); }, -20, 20},
      {"erf", interval::erf, [](R x) { return std::erf(x); }, -5, 5},
      {"erfc", interval::erfc, [](R x) { return std::erfc(x); }, -5, 25}};
  return all;
}

class Drawn {
 public:
  double number(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  /// Inside [low, high]; now and then a point, or very narrow.
  Interval interval(double low, double high) {
    const double a = number(low, high);
    switch (std::uniform_int_distribution<int>(0, 3)(random_)) {
      case 0:
        return Interval::point(a);
      case 1:
        return {a, std::min(high, a + 1e-12)};
      default: {
        const double b = number(low, high);
        return {std::min(a, b), std::max(a, b)};
      }
    }
  }
  double in(Interval x) {
    switch (std::uniform_int_distribution<int>(0, 4)(random_)) {
      case 0:
        return x.low;
      case 1:
        return x.high;
      default:
        return x.is_point() ? x.low : number(x.low, x.high);
    }
  }

 private:
  std::mt19937 random_{17};
};

bool encloses(Interval range, long double value) {
  return static_cast<long double>(range.low) <= value &&
         value <= static_cast<long double>(range.high);
}

TEST(Interval, FunctionsEncloseTheirValues) {
  Drawn drawn;
  for (const Unary& function : functions()) {
    for (int i = 0; i < 2000; ++i) {
      const Interval x = drawn.interval(function.low, function.high);
      const Interval range = function.range(x);
      const double at = drawn.in(x);
      ASSERT_TRUE(encloses(range, function.value(at)))
          << function.name << "(" << at << ") in [" << x.low << ", " << x.high << "] is not in ["
          << range.low << ", " << range.high << "]";
    }
  }
}

/// A range much wider than the values would make every bound useless.
TEST(Interval, FunctionsAreSharp) {
  Drawn drawn;
  for (const Unary& function : functions()) {
    for (int i = 0; i < 200; ++i) {
      const Interval x = drawn.interval(function.low, function.high);
      const Interval range = function.range(x);
      if (!range.is_bounded()) continue;  // a pole
      long double low = HUGE_VALL;
      long double high = -HUGE_VALL;
      for (int k = 0; k <= 4000; ++k) {
        const double at = k == 4000 ? x.high : x.low + (x.high - x.low) * k / 4000;
        low = std::min(low, function.value(at));
        high = std::max(high, function.value(at));
      }
      // extrema between the samples, and 16 ulps of the ends, and what is not told apart from 0
      const long double slack = 1e-4L * (high - low) + 2e-14L * std::max(-low, high) + 1.001e-280L;
      EXPECT_LE(high, range.high);
      EXPECT_LE(range.high, high + slack) << function.name << " " << x.low << " " << x.high;
      EXPECT_GE(range.low, low - slack) << function.name << " " << x.low << " " << x.high;
    }
  }
}

TEST(Interval, ArithmeticEnclosesItsValues) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const Interval a = drawn.interval(-3, 4);
    const Interval b = drawn.interval(-3, 4);
    const long double x = drawn.in(a);
    const long double y = drawn.in(b);
    ASSERT_TRUE(encloses(a + b, x + y));
    ASSERT_TRUE(encloses(a - b, x - y));
    ASSERT_TRUE(encloses(a * b, x * y));
    ASSERT_TRUE(encloses(-a, -x));
    if (y != 0) {
      ASSERT_TRUE(encloses(a / b, x / y));
    }
  }
}

TEST(Interval, PowersAndAnglesEncloseTheirValues) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const Interval base = drawn.interval(0, 5);
    const Interval exponent = drawn.interval(-6, 6);
    const long double x = drawn.in(base);
    ASSERT_TRUE(encloses(interval::power(base, exponent),
                         std::pow(x, static_cast<long double>(drawn.in(exponent)))));
    const Interval any = drawn.interval(-4, 4);
    const double whole = std::rint(drawn.number(-6, 6));
    const long double y = drawn.in(any);
    if (y != 0) {
      ASSERT_TRUE(encloses(interval::power(any, Interval::point(whole)),
                           std::pow(y, static_cast<long double>(whole))))
          << static_cast<double>(y) << "^" << whole;
    }
    const Interval above = drawn.interval(0.01, 3);
    ASSERT_TRUE(encloses(interval::atan2(above, any),
                         std::atan2(static_cast<long double>(drawn.in(above)), y)));
  }
}

TEST(Interval, DivisionThroughZeroIsUnbounded) {
  EXPECT_EQ((Interval{1, 2} / Interval{-1, 1}), Interval::everything());
  const Interval half = Interval{1, 2} / Interval{0, 4};
  EXPECT_EQ(half.high, HUGE_VAL);
  EXPECT_NEAR(half.low, 0.25, 1e-15);
  // nothing, times anything
  EXPECT_EQ(Interval::everything() * Interval{}, Interval{});
}

}  // namespace
}  // namespace starpmc
