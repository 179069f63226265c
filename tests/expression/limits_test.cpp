// Large expressions are read; hostile ones end soon, in an error that says the limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "expression/parse.hpp"
#include "expression/print.hpp"
#include "expression/translate.hpp"

namespace starpmc::expression {
namespace {

using testing::HasSubstr;

std::string repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

/// Whatever a program does with an expression; the error where there is one.
std::string treat(const std::string& text) {
  Pool pool;
  try {
    const Node energy = parse(pool, text);
    const std::vector<Node> outputs{energy, derivative(pool, energy, "r")};
    const std::string printed = print(pool, outputs[1]);
    translate(pool, outputs);
    translate(pool, outputs, {.inputs = {}, .squared_variable = "r", .varying = {"r_squared"}});
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

class Limits : public testing::Test {
 protected:
  void TearDown() override {
    const auto seconds = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
    // It takes a few; with sanitizers and without optimisation some 30.
    EXPECT_LT(seconds, 100);
  }

 private:
  std::clock_t start_ = std::clock();
};

TEST_F(Limits, ThousandsOfTermsAndHundredsOfLevelsAreRead) {
  std::string sum = "r";
  std::string product = "r";
  for (int i = 1; i <= 5000; ++i) {
    sum += " + " + std::to_string(i) + "*sin(" + std::to_string(i) + "*r)";
    if (i <= 300) product += "*cos(" + std::to_string(i) + "*r)";
  }
  EXPECT_EQ(treat(sum), "");
  EXPECT_EQ(treat(product), "");
  EXPECT_EQ(treat(repeat("(", 450) + "r" + repeat(")", 450)), "");
  EXPECT_EQ(treat(repeat("sin(", 450) + "r" + repeat(")", 450)), "");
  EXPECT_EQ(treat(repeat("(r+sin(", 200) + "r" + repeat("))", 200)), "");
  EXPECT_EQ(treat(repeat("1/(r+", 200) + "r" + repeat(")", 200)), "");
  EXPECT_EQ(treat(repeat("-", 100000) + "r"), "");
}

TEST_F(Limits, LargeSumsHaveTheRightValue) {
  std::string text = "0";
  double expected = 0;
  for (int i = 1; i <= 3000; ++i) {
    text += "+r^" + std::to_string(i % 40) + "*" + std::to_string(i);
    expected += std::pow(0.9, i % 40) * i;
  }
  Pool pool;
  const Node node = parse(pool, text);
  EXPECT_NEAR(evaluate<double>(pool, {&node, 1}, {{"r", 0.9}})[0], expected, 1e-9 * expected);
}

TEST_F(Limits, TooMuchIsAnErrorThatSaysTheLimit) {
  EXPECT_THAT(treat(std::string(5'000'000, '(')), HasSubstr("limit: 1000000"));
  EXPECT_THAT(treat(std::string(900'000, '(')), HasSubstr("limit: 500 levels"));
  EXPECT_THAT(treat(repeat("sin(", 200'000)), HasSubstr("limit: 500 levels"));
  EXPECT_THAT(treat(repeat("2^", 400'000) + "r"), HasSubstr("limit: 500 levels"));
}

/// a0; a0 = f(a1); a1 = f(a2); ... with `%` for the next name.
std::string chain(std::string_view link, int links) {
  std::string text = "a0";
  for (int i = 0; i < links; ++i) {
    text += "; a" + std::to_string(i) + " = ";
    const std::string next = std::string(1, 'a') + std::to_string(i + 1);
    for (const char c : link) {
      text += c == '%' ? next : std::string(1, c);
    }
  }
  return text + "; a" + std::to_string(links) + " = r";
}

TEST_F(Limits, DefinitionsThatDoubleStaySmall) {
  EXPECT_EQ(treat(chain("sin(%)*cos(%)", 300)), "");
  EXPECT_EQ(treat(chain("sin(%)", 1000)), "");
  EXPECT_EQ(treat(chain("% + exp(%)", 60)), "");
}

TEST_F(Limits, DefinitionsThatGrowEndInAnError) {
  EXPECT_THAT(treat(chain("% + sin(%)", 20000)), HasSubstr("limit: 1000000"));
  EXPECT_THAT(treat(chain("%*sin(%)", 20000)), HasSubstr("limit: 1000000"));
  EXPECT_THAT(treat(chain("sin(%)", 20000)), HasSubstr("limit: 1000000"));  // its derivative
  EXPECT_THAT(treat(chain("% + %", 2000)), HasSubstr("no finite number"));
}

TEST_F(Limits, HugeNumbersAreErrorsOrHarmless) {
  EXPECT_THAT(treat("1e300*r*1e300"), HasSubstr("no finite number"));
  EXPECT_THAT(treat("1e-300*r*1e-300"), HasSubstr("no finite number"));
  EXPECT_THAT(treat("exp(1000)"), HasSubstr("no finite number"));
  EXPECT_THAT(treat("9^9^9^9"), HasSubstr("no finite number"));
  EXPECT_EQ(treat("r^1e300 + r^-1e300 + r^1e-300"), "");
  EXPECT_EQ(treat("r^123456789 + r^1024 + r^1023 + r^0.25"), "");
  // Exponents of which 1 cannot be taken away: the second was found by fuzzing.
  EXPECT_EQ(treat("(r + 1)^9007199254740994 + (r + 1)^9007199254740996*sin(r)"), "");
  EXPECT_EQ(treat("138.0*q1*q222222^-1.5222222+(rc)/r/rc^222222222222222222222^-1.5222222"
                  "+(rc)/r/rc^222222222222222222222"),
            "");
}

TEST_F(Limits, PowersThatDoNotAddUpExactlyEnd) {
  // r r^0.3 is not r^1.3 as doubles go, so r has two powers in a term.
  EXPECT_EQ(treat("r*r^0.3 + r^3*r^0.3 + 1/r"), "");
  EXPECT_EQ(treat("r^0.3*r^3 + r^0.3/r + r^-3*sin(r)*r^0.1"), "");
  EXPECT_EQ(treat("r*r^1.1*r^2 + r*sin(r)"), "");
}

TEST_F(Limits, PowersThatDoNotAddUpExactlyParseToTheSameTree) {
  for (const char* const text : {"r^0.3*r^-3.375/r", "r*r^1.1*r^2", "1/(r*r^0.4*r^0.7)"}) {
    Pool pool;
    const Node node = parse(pool, text);
    EXPECT_EQ(parse(pool, print(pool, node)), node) << print(pool, node);
  }
}

TEST_F(Limits, TheDerivativeOfAHugePowerHasTheRightSign) {
  Pool pool;
  const Node node = derivative(pool, parse(pool, "r^9007199254740994"), "r");
  const auto at = [&](double r) { return evaluate<double>(pool, {&node, 1}, {{"r", r}})[0]; };
  EXPECT_EQ(at(1), 0x1p53 + 2);
  EXPECT_EQ(at(-1), -(0x1p53 + 2));
}

TEST_F(Limits, TheDerivativesOfASaturatedTanhKeepTheirRelativePrecision) {
  Pool pool;
  const Node first = derivative(pool, parse(pool, "tanh(3*r)"), "r");
  const std::vector<Node> both{first, derivative(pool, first, "r")};
  for (const double r :
       {-100.0, -7.0, -0.5, -1e-3, 0.0, 1e-6, 1e-3, 0.03, 0.2, 2.0, 6.5, 12.0, 110.0}) {
    const long double cosh = std::cosh(3 * static_cast<long double>(r));
    const long double slope = 3 / (cosh * cosh);
    const long double curvature = -6 * std::tanh(3 * static_cast<long double>(r)) * slope;
    const auto found = evaluate<double>(pool, both, {{"r", r}});
    EXPECT_NEAR(found[0] / static_cast<double>(slope), 1, 1e-14) << r;
    // About 0 the curvature is a difference of two terms, each six times the slope, and exact to
    // ulps of those only; a form without it (1/cosh^2) gives infinity times 0 where cosh overflows.
    constexpr double ulp = std::numeric_limits<double>::epsilon();
    EXPECT_NEAR(
        found[1], static_cast<double>(curvature),
        1e-14 * std::abs(static_cast<double>(curvature)) + 2 * ulp * static_cast<double>(6 * slope))
        << r;
  }
  EXPECT_EQ(evaluate<double>(pool, both, {{"r", 1e300}})[0], 0);  // not infinity / infinity
  EXPECT_EQ(evaluate<double>(pool, both, {{"r", -1e300}})[1], 0);
}

}  // namespace
}  // namespace starpmc::expression
