// Proven bounds of expressions' errors against values of them: in fp32, fp64 (plain, exact and
// SIMD) and long double.
#include "potential/error_bound.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "expression/derivative.hpp"
#include "expression/evaluate_program.hpp"
#include "expression/parse.hpp"
#include "expression/translate.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "kernels/simd/evaluate.hpp"
#include "tests/expression/generate.hpp"

namespace starpmc {
namespace {

constexpr double kSingle = 0x1p-24;

/// A function of r with coefficients x and y, as programs.
struct Function {
  explicit Function(const std::string& text) {
    expression::Pool pool;
    const expression::Node node = expression::parse(pool, text);
    expression::TranslationOptions options;
    options.inputs = {"r_squared", "x", "y"};
    options.squared_variable = "r";
    value = expression::translate(pool, {&node, 1}, options);
    const expression::Node slope = expression::derivative(pool, node, "r");
    derivative = expression::translate(pool, {&slope, 1}, options);
  }

  Program value;
  Program derivative;
};

using Coefficients = std::array<double, 2>;

template <class Real>
Real reference(const Program& program, double r2, const Coefficients& at) {
  const std::array<Real, 3> inputs{static_cast<Real>(r2), static_cast<Real>(at[0]),
                                   static_cast<Real>(at[1])};
  return expression::evaluate_program<Real>(program, inputs).front();
}

double single(const Program& program, double r2, const Coefficients& at) {
  const std::array inputs{static_cast<float>(r2), static_cast<float>(at[0]),
                          static_cast<float>(at[1])};
  float result = 0;
  scalar::evaluate<float>(program, inputs, std::span(&result, 1));
  return result;
}

double plain(const Program& program, double r2, const Coefficients& at) {
  double result = 0;
  scalar::evaluate<double>(program, std::array{r2, at[0], at[1]}, std::span(&result, 1));
  return result;
}

double exact(const Program& program, double r2, const Coefficients& at) {
  double result = 0;
  scalar::evaluate_exact(program, std::array{r2, at[0], at[1]}, std::span(&result, 1));
  return result;
}

double simd_value(const Program& program, double r2, const Coefficients& at) {
  simd::BlockEvaluator<double> evaluator(program);
  double result = 0;
  const double* const inputs[] = {&r2, &at[0], &at[1]};
  double* const outputs[] = {&result};
  evaluator(inputs, 1, outputs);
  return result;
}

/// A square of a distance well inside a cell, that fp32 has, too, where the cell is wide enough.
double draw_square(Interval distances, std::mt19937& random) {
  std::uniform_real_distribution<double> inside(0.01, 0.99);
  const double r = distances.low + inside(random) * (distances.high - distances.low);
  const double square = static_cast<double>(static_cast<float>(r * r));
  return interval::square(distances).contains(square) ? square : r * r;
}

Interval draw_cell(std::mt19937& random) {
  constexpr std::array kWidths{0.0, 1e-9, 1e-6, 1e-3, 0.03, 0.2};
  const double low = std::uniform_real_distribution<double>(0.6, 1.6)(random);
  const auto pick = std::uniform_int_distribution<std::size_t>(0, kWidths.size() - 1)(random);
  return {low, low + kWidths[pick]};
}

/// Calls check(function, coefficients, text) for generated expressions.
template <class Check>
void for_generated(int count, unsigned seed, const Check& check) {
  expression::Generator generator(seed);
  std::mt19937 random(seed + 1);
  for (int i = 0; i < count; ++i) {
    const std::string text = generator.make(1 + i % 4).text;
    std::uniform_real_distribution<double> uniform(0.6, 1.8);
    const Coefficients at{static_cast<double>(static_cast<float>(uniform(random))),
                          static_cast<double>(static_cast<float>(uniform(random)))};
    check(Function(text), at, text);
    if (testing::Test::HasFailure()) return;
  }
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

TEST(ErrorBound, HoldsForGeneratedExpressions) {
  std::mt19937 random(7);
  int compared = 0;
  for_generated(400, 21, [&](const Function& function, const Coefficients& at, const auto& text) {
    const Program& program = function.value;
    const ErrorBound bound(program, at);
    for (int cell = 0; cell < 12; ++cell) {
      const Interval distances = draw_cell(random);
      const BoundedValue over = bound.over(distances);
      for (int i = 0; i < 5; ++i) {
        const double r2 = draw_square(distances, random);
        const auto real = reference<long double>(program, r2, at);
        if (std::isnan(real)) continue;
        // the reference rounds, too, 2^11 times less
        const double margin = 1.01 * (over.rounding + over.jump);
        for (const double found :
             {plain(program, r2, at), exact(program, r2, at), simd_value(program, r2, at)}) {
          ASSERT_LE(std::abs(static_cast<double>(found - real)), margin)
              << text << " at r^2 = " << r2;
          ASSERT_TRUE(over.value.contains(found)) << text << " at r^2 = " << r2;
        }
        ++compared;
      }
    }
  });
  EXPECT_GT(compared, 20000);
}

TEST(ErrorBound, HoldsInSinglePrecision) {
  std::mt19937 random(8);
  int compared = 0;
  for_generated(400, 22, [&](const Function& function, const Coefficients& at, const auto& text) {
    const ErrorBound bound(function.value, at, kSingle);
    for (int cell = 0; cell < 12; ++cell) {
      const Interval distances = draw_cell(random);
      const BoundedValue over = bound.over(distances);
      for (int i = 0; i < 5; ++i) {
        const double r2 = draw_square(distances, random);
        if (static_cast<double>(static_cast<float>(r2)) != r2) continue;
        const double real = plain(function.value, r2, at);
        if (std::isnan(real) || std::abs(real) > 1e30) continue;
        const double found = single(function.value, r2, at);
        ASSERT_LE(std::abs(found - real), over.rounding + over.jump) << text << " at r^2 = " << r2;
        ASSERT_TRUE(over.value.contains(found)) << text << " at r^2 = " << r2;
        ++compared;
      }
    }
  });
  EXPECT_GT(compared, 8000);
}

TEST(ErrorBound, EnclosesDerivatives) {
  std::mt19937 random(9);
  int compared = 0;
  for_generated(400, 23, [&](const Function& function, const Coefficients& at, const auto& text) {
    const ErrorBound bound(function.value, at);
    for (int cell = 0; cell < 12; ++cell) {
      const Interval distances = draw_cell(random);
      const Interval slope = bound.over(distances).slope;
      const double r2 = draw_square(distances, random);
      const auto expected = reference<long double>(function.derivative, r2, at);
      if (!std::isfinite(expected)) continue;
      // numbers that the translation combined are rounded to fp64
      const long double tolerance = 1e-11L * (1 + std::abs(expected));
      ASSERT_GE(expected, slope.low - tolerance) << text << " at r^2 = " << r2;
      ASSERT_LE(expected, slope.high + tolerance) << text << " at r^2 = " << r2;
      ++compared;
    }
  });
  EXPECT_GT(compared, 4000);
}

/// What is wanted: two evaluators whose distances are not quite the same.
TEST(ErrorBound, HoldsBetweenDisplacedDistances) {
  std::mt19937 random(10);
  int compared = 0;
  int jumps = 0;
  for_generated(400, 24, [&](const Function& function, const Coefficients& at, const auto& text) {
    const ErrorBound bound(function.value, at);
    for (const double displacement : {1e-9, 1e-4, 0.02}) {
      const double r = std::uniform_real_distribution<double>(0.6, 1.6)(random);
      const BoundedValue over = bound.over({r - displacement, r + displacement});
      for (int i = 0; i < 20; ++i) {
        const double other =
            r + displacement * std::uniform_real_distribution<double>(-0.999, 0.999)(random);
        const double difference =
            std::abs(plain(function.value, other * other, at) - exact(function.value, r * r, at));
        if (std::isnan(difference)) continue;
        ASSERT_LE(difference, over.difference(displacement)) << text << " at " << r;
        if (over.jumps(displacement) && difference > 0.1) ++jumps;
        ++compared;
      }
    }
  });
  EXPECT_GT(compared, 20000);
  EXPECT_GT(jumps, 10);
}

/// The largest error seen, in units of the bound on it.
double share_of_bound(const Function& function, const Coefficients& at, double unit_roundoff,
                      double low, double high) {
  const ErrorBound bound(function.value, at, unit_roundoff);
  std::mt19937 random(3);
  double largest = 0;
  for (int i = 0; i < 2000; ++i) {
    const double r = std::uniform_real_distribution<double>(low, high)(random);
    const auto r2 = static_cast<double>(static_cast<float>(r * r));
    const double distance = std::sqrt(r2);
    const BoundedValue over = bound.over({distance, distance});
    const auto real = reference<long double>(function.value, r2, at);
    const double found =
        unit_roundoff == kSingle ? single(function.value, r2, at) : plain(function.value, r2, at);
    if (!std::isfinite(real) || over.rounding == 0 || over.jump > 0) continue;
    largest = std::max(largest, static_cast<double>(std::abs(found - real)) / over.rounding);
  }
  return largest;
}

/// A bound far above the errors would have every step evaluated twice.
TEST(ErrorBound, IsSharp) {
  for (const double unit : {0x1p-53, kSingle}) {
    for (const char* const text : {"4*x*((y/r)^12-(y/r)^6)", "(1-r/9)^2/r", "exp(-0.1*r)/r",
                                   "erfc(0.3*r)/r", "300000*exp(-3.6*r)-2600/r^6"}) {
      const double share = share_of_bound(Function(text), {0.65, 3.15}, unit, 2, 9);
      std::printf("u = %.0e, %s: %.2f of the bound\n", unit, text, share);
      EXPECT_GT(share, std::string(text).find('e') == std::string::npos ? 0.1 : 0.03) << text;
    }
    std::vector<double> shares;
    for_generated(200, 25, [&](const Function& function, const Coefficients& at, const auto&) {
      const double share = share_of_bound(function, at, unit, 0.6, 1.8);
      if (share > 0) shares.push_back(share);
    });
    const double middle = median(shares);
    std::printf("u = %.0e, generated: %.3f of the bound (median)\n", unit, middle);
    EXPECT_GT(middle, 0.01);
  }
}

/// The range of a cell that is no number in part, or all of it.
TEST(ErrorBound, KnowsWhereThereIsNoNumber) {
  const Function root("sqrt(r-2)*x+y");
  const ErrorBound bound(root.value, Coefficients{1, 0});
  EXPECT_EQ(bound.over({1.5, 1.9}).defined, Defined::never);
  EXPECT_EQ(bound.over({1.9, 2.1}).defined, Defined::perhaps);
  EXPECT_GT(bound.over({1.9, 2.1}).difference(1e-9), 0.9e6);
  EXPECT_EQ(bound.over({2.1, 2.2}).defined, Defined::always);
  const Function power("(r-2)^x");
  EXPECT_EQ(ErrorBound(power.value, Coefficients{0.5, 0}).over({1.5, 1.9}).defined, Defined::never);
  EXPECT_EQ(ErrorBound(power.value, Coefficients{3, 0}).over({1.5, 1.9}).defined, Defined::always);
}

/// Such a number is infinite in fp32, and none where it is multiplied by 0.
TEST(ErrorBound, NumbersBeyondTheLargestOfFp32MayBecomeNone) {
  const auto defined = [](const char* text, const Coefficients& coefficients, double unit) {
    const Function function(text);
    return ErrorBound(function.value, coefficients, unit).over({6, 7}).defined;
  };
  EXPECT_EQ(defined("1e39*step(3-r)", {}, kSingle), Defined::perhaps);
  EXPECT_EQ(defined("1e39*step(3-r)", {}, 0x1p-53), Defined::always);
  EXPECT_EQ(defined("x*y*step(3-r)", {1e20, 1e20}, kSingle), Defined::perhaps);
  EXPECT_EQ(defined("x*y*step(3-r)", {1e10, 1e10}, kSingle), Defined::always);
  EXPECT_EQ(defined("exp(x*r)-exp(y*r)", {20, 20}, kSingle), Defined::perhaps);
  EXPECT_EQ(defined("exp(x*r)-exp(y*r)", {20, 20}, 0x1p-53), Defined::always);
}

TEST(ErrorBound, PolesAreUnbounded) {
  for (const char* const text : {"1/(r-2)", "tan(r-2+1.5707963267948966)", "1/(r-2)^2"}) {
    const Function function(text);
    const ErrorBound bound(function.value, Coefficients{});
    EXPECT_EQ(bound.over({1.99, 2.01}).difference(1e-9), HUGE_VAL) << text;
    EXPECT_LT(bound.over({2.01, 2.02}).difference(1e-9), 1) << text;
  }
}

}  // namespace
}  // namespace starpmc
