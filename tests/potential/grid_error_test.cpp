#include "potential/grid_error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "expression/evaluate_program.hpp"
#include "expression/parse.hpp"
#include "expression/translate.hpp"
#include "kernels/scalar/evaluate.hpp"

namespace starpmc {
namespace {

constexpr double kCutoff = 9;

Program program_of(const std::string& text) {
  expression::Pool pool;
  std::string whole = text;
  whole += "; cutoff = 9";
  const expression::Node node = expression::parse(pool, whole);
  expression::TranslationOptions options;
  options.inputs.emplace_back("r_squared");
  options.squared_variable = std::string("r");
  return expression::translate(pool, {&node, 1}, options);
}

double error_of(const std::string& text) { return grid_error_in_single(program_of(text), kCutoff); }

TEST(GridError, OfTheBuiltInFunctionIsItsOwn) {
  EXPECT_NEAR(error_of("(1+r^2/cutoff^2)/r-2/cutoff"), 1, 0.5);
  EXPECT_LT(error_of("(1-r/cutoff)^2/r"), 3);
  EXPECT_LT(error_of("1/r-1/cutoff+(r-cutoff)/cutoff^2"), 4);
}

TEST(GridError, UsualFunctionsAreComputedInSingle) {
  for (const char* const text :
       {"1/r-1/cutoff", "exp(-0.3*r)/r*(1-(r/cutoff)^2)^2", "erfc(0.3*r)/r-erfc(0.3*cutoff)/cutoff",
        "(1-exp(-2*r))*(1-r/cutoff)^2/r"}) {
    EXPECT_LT(error_of(text), kLargestGridError) << text;
  }
}

TEST(GridError, WhatFp32CannotDoIsNotComputedInSingle) {
  for (const char* const text :
       {"(1-r/cutoff)^2/r+0.1*step(r-4)",                // jumps
        "1/(r-4.00001)",                                 // a pole
        "(1-r/cutoff)^2/r+1e-40/r^30",                   // overflows, and only near 0
        "(1-r/cutoff)^2/r+0.1*exp(-(r-4.0001)^2*1e12)",  // too narrow for fp32 distances
        "(1-r/cutoff)^2/r+1e-6*((1e4+r)^3-1e12-3e8*r-3e4*r^2-r^3)"}) {
    EXPECT_GT(error_of(text), kLargestGridError) << text;
  }
}

/// Neither the function's own rounding nor that of the distance leaves the bound.
TEST(GridError, HoldsForComputedValues) {
  const Program built_in = program_of("(1+r^2/cutoff^2)/r-2/cutoff");
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> distance(kNearestGridPoint, kCutoff);
  const auto largest_error = [&](const Program& program, double r) {
    const auto r2 = static_cast<float>(r * r);
    float single = 0;
    scalar::evaluate<float>(program, std::array{r2}, std::span(&single, 1));
    const auto real =
        static_cast<double>(expression::evaluate_program<long double>(
                                program, std::array{std::fma(static_cast<long double>(r), r, 0.0L)})
                                .front());
    return std::abs(static_cast<double>(single) - real);
  };
  // The built-in function's bound at r, from above: a few roundings of each of its terms.
  const auto built_in_bound = [](double r) {
    return 0x1p-24 * (8 / r + 8 * r / (kCutoff * kCutoff) + 4 / kCutoff) +
           0x1p-24 * 2 * kCutoff * (1 / (r * r) + 1 / (kCutoff * kCutoff));
  };
  for (const char* const text : {"(1-r/cutoff)^2/r", "exp(-0.3*r)/r*(1-(r/cutoff)^2)^2",
                                 "erfc(0.3*r)/r-erfc(0.3*cutoff)/cutoff"}) {
    const Program program = program_of(text);
    const double ratio = std::max(1.0, error_of(text));
    for (int i = 0; i < 20000; ++i) {
      const double r = distance(random);
      ASSERT_LE(largest_error(program, r), ratio * built_in_bound(r)) << text << " at " << r;
      ASSERT_LE(largest_error(built_in, r), built_in_bound(r));
    }
  }
}

}  // namespace
}  // namespace starpmc
