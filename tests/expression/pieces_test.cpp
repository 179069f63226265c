// Derivatives of functions of pieces, where f'(a) diverges and a' is 0.
#include <gtest/gtest.h>

#include <cmath>

#include "expression/count.hpp"
#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "expression/evaluate_program.hpp"
#include "expression/parse.hpp"
#include "expression/part.hpp"
#include "expression/translate.hpp"

namespace starpmc::expression {
namespace {

/// Value, derivative and second derivative.
std::vector<Node> with_derivatives(Pool& pool, const std::string& text) {
  const Node value = parse(pool, text);
  const Node first = derivative(pool, value, "r");
  return {value, first, derivative(pool, first, "r")};
}

std::vector<double> at(const std::string& text, double r) {
  Pool pool;
  return evaluate<double>(pool, with_derivatives(pool, text), {{"r", r}});
}

/// As kernels have it.
std::vector<double> at_pair(const std::string& text, double r) {
  Pool pool;
  const TranslationOptions options{
      .inputs = {}, .squared_variable = "r", .square_input = "r_squared", .varying = {"r_squared"}};
  const PartedProgram parted =
      part(translate(pool, with_derivatives(pool, text), options), options.varying);
  std::vector<double> inputs{r * r};
  for (const double x : evaluate_program<double>(parted.once, {})) inputs.push_back(x);
  return evaluate_program<double>(parted.each, inputs);
}

/// All stay the same beyond 5.
const char* const kEndAtFive[] = {
    "exp(-1/max(0,5-r))",
    "exp(-r/max(0,5-r))",
    "exp(-1/cube(max(0,5-r))+r)",
    "exp(-1/max(0,5-r)/max(0,6-r))",
    "1/exp(1/max(0,5-r))",
    "exp(r*log(max(0,5-r)))",
    "sqrt(max(0,1-(r/5)^2))",
    "sqrt(r*max(0,5-r))",
    "sqrt(-min(0,r-5))",
    "sqrt(abs(5-r)+5-r)",
    "sqrt(step(5-r)*(5-r))",
    "sqrt(select(step(5-r),5-r,0))",
    "max(0,5-r)^0.3",
    "max(0,5-r)^(1+r)",
    "(r/max(0,5-r)+1)^-2.5",
    "1/(1+r/max(0,5-r))",
    "tanh(r/max(0,5-r))",
    "asin(1-max(0,5-r)/2)",
    "atan2(max(0,5-r),max(0,4.5-r))",
};

TEST(Pieces, SlopesAreZeroWhereAPieceStaysTheSame) {
  for (const char* const text : kEndAtFive) {
    for (const double r : {5.5, 7.0, 9.0}) {
      for (const auto& found : {at(text, r), at_pair(text, r)}) {
        EXPECT_TRUE(std::isfinite(found[0])) << text;
        EXPECT_EQ(found[1], 0) << text;
        EXPECT_EQ(found[2], 0) << text;
      }
    }
  }
}

TEST(Pieces, SlopesElsewhereAreThoseOfDifferences) {
  constexpr double kStep = 1e-4;
  for (const char* const text : kEndAtFive) {
    for (const double r : {3.7, 4.0, 4.2}) {
      const auto low = at(text, r - kStep);
      const auto high = at(text, r + kStep);
      for (const auto& found : {at(text, r), at_pair(text, r)}) {
        for (const std::size_t k : {1u, 2u}) {
          const double expected = (high[k - 1] - low[k - 1]) / (2 * kStep);
          EXPECT_NEAR(found[k], expected, 1e-6 * (1 + std::abs(expected))) << text << ' ' << r;
        }
      }
    }
  }
}

/// A factor that is 0 at a point only is no piece: its own slope counts.
TEST(Pieces, FactorsMayPassThroughZero) {
  EXPECT_DOUBLE_EQ(at("(1+(r-4)^2+max(0,2-r))^-1", 4)[2], -2);
  EXPECT_DOUBLE_EQ(at("max(0,5-r)^(1+r)", 4)[2], 18);
}

/// The switching function's powers do not diverge: nothing is paid for them.
TEST(Pieces, WhatCannotDivergeIsAPlainProduct) {
  Pool pool;
  const Node node = parse(pool, "exp(-r)*(1-10*x^3+15*x^4-6*x^5); x=max(0,(r-7)/2)");
  const std::vector<Node> both{node, derivative(pool, node, "r")};
  EXPECT_EQ(count_operations(translate(pool, both)).of(Operation::select), 1u);
}

}  // namespace
}  // namespace starpmc::expression
