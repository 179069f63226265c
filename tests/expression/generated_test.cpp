// Generated expressions: trees, canonical text, derivatives and programs against direct evaluation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expression/derivative.hpp"
#include "expression/evaluate_program.hpp"
#include "expression/parse.hpp"
#include "expression/part.hpp"
#include "expression/translate.hpp"
#include "generate.hpp"

namespace starpmc::expression {
namespace {

constexpr int kExpressions = 1500;

std::map<std::string, long double, std::less<>> named(const Arguments& arguments) {
  return {{"r", arguments[0]}, {"x", arguments[1]}, {"y", arguments[2]}};
}

Arguments draw(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0.6, 1.8);
  return {uniform(random), uniform(random), uniform(random)};
}

/// Numbers that were combined in double are the only ones not in long double.
void expect_close(long double value, long double expected, const std::string& what,
                  long double tolerance = 1e-11L) {
  EXPECT_LE(std::abs(value - expected), tolerance * (1 + std::abs(expected)))
      << what << "\n  is " << value << " instead of " << expected;
}

bool usable(long double value) { return std::isfinite(value) && std::abs(value) < 1e6L; }

/// f'(r) by differences of sixth order; no number where two step sizes disagree (kinks, jumps).
long double difference_quotient(const Generated& f, const Arguments& at) {
  const auto quotient = [&](long double h) {
    const auto value = [&](int k) {
      Arguments moved = at;
      moved[0] += static_cast<long double>(k) * h;
      return f.evaluate(moved);
    };
    return (45 * (value(1) - value(-1)) - 9 * (value(2) - value(-2)) + (value(3) - value(-3))) /
           (60 * h);
  };
  const long double coarse = quotient(4e-4L);
  const long double fine = quotient(2e-4L);
  const bool smooth = std::abs(coarse - fine) < 1e-9L * (1 + std::abs(fine));
  return smooth ? fine : std::nanl("");
}

TEST(GeneratedExpressions, TreesHaveTheValueOfTheirText) {
  Generator generator(1);
  std::mt19937 random(2);
  int compared = 0;
  for (int i = 0; i < kExpressions; ++i) {
    const Generated generated = generator.make(1 + i % 4);
    Pool pool;
    const Node node = parse(pool, generated.text);
    const Arguments arguments = draw(random);
    const long double expected = generated.evaluate(arguments);
    if (!usable(expected)) continue;
    ++compared;
    expect_close(evaluate(pool, {&node, 1}, named(arguments))[0], expected, generated.text);
  }
  EXPECT_GT(compared, kExpressions * 9 / 10);
}

TEST(GeneratedExpressions, TextParsesToTheSameTree) {
  Generator generator(3);
  for (int i = 0; i < kExpressions; ++i) {
    const Generated generated = generator.make(1 + i % 5);
    Pool pool;
    const Node node = parse(pool, generated.text);
    const std::string text = print(pool, node);
    EXPECT_EQ(parse(pool, text), node) << generated.text << "\n  prints as " << text << "\n  then "
                                       << print(pool, parse(pool, text));
    Pool other;
    EXPECT_EQ(print(other, parse(other, text)), text) << "depends on the history of the pool";
  }
}

TEST(GeneratedExpressions, DerivativesAreLimitsOfDifferences) {
  Generator generator(4);
  std::mt19937 random(5);
  int compared = 0;
  for (int i = 0; i < kExpressions; ++i) {
    const Generated generated = generator.make(1 + i % 4);
    Pool pool;
    const Node slope = derivative(pool, parse(pool, generated.text), "r");
    const Arguments arguments = draw(random);
    const long double expected = difference_quotient(generated, arguments);
    if (!usable(expected)) continue;
    ++compared;
    expect_close(evaluate(pool, {&slope, 1}, named(arguments))[0], expected, generated.text, 1e-8L);
  }
  EXPECT_GT(compared, kExpressions * 3 / 4);
}

std::vector<long double> inputs_of(const Program& program, const Arguments& arguments) {
  std::vector<long double> inputs;
  for (const std::string& name : program.inputs) {
    const auto values = named(arguments);
    inputs.push_back(name == "r_squared" ? arguments[0] * arguments[0] : values.at(name));
  }
  return inputs;
}

std::vector<long double> evaluate_parted(const PartedProgram& parted, const Arguments& arguments) {
  const auto coefficients =
      evaluate_program<long double>(parted.once, inputs_of(parted.once, arguments));
  std::vector<long double> inputs{arguments[0] * arguments[0]};
  inputs.insert(inputs.end(), coefficients.begin(), coefficients.end());
  return evaluate_program<long double>(parted.each, inputs);
}

TEST(GeneratedExpressions, ProgramsHaveTheValuesOfTheTrees) {
  Generator generator(6);
  std::mt19937 random(7);
  int compared = 0;
  for (int i = 0; i < kExpressions; ++i) {
    const Generated generated = generator.make(1 + i % 4);
    Pool pool;
    const Node energy = parse(pool, generated.text);
    const Node first = derivative(pool, energy, "r");
    const std::vector<Node> outputs{energy, first, derivative(pool, first, "r")};
    const Arguments arguments = draw(random);
    const auto expected = evaluate(pool, outputs, named(arguments));
    if (!std::ranges::all_of(expected, usable)) continue;
    ++compared;
    const TranslationOptions squared{
        .inputs = {}, .squared_variable = "r", .varying = {"r_squared"}};
    const Program plain = translate(pool, outputs);
    const Program whole = translate(pool, outputs, squared);
    const Program naive = translate_naively(pool, outputs);
    const auto of_plain = evaluate_program<long double>(plain, inputs_of(plain, arguments));
    const auto of_whole = evaluate_program<long double>(whole, inputs_of(whole, arguments));
    const auto of_naive = evaluate_program<long double>(naive, inputs_of(naive, arguments));
    const auto of_parts = evaluate_parted(part(whole, squared.varying), arguments);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::string what = generated.text + " output " + std::to_string(k);
      expect_close(of_plain[k], expected[k], what);
      expect_close(of_whole[k], expected[k], what + ", r squared");
      expect_close(of_naive[k], expected[k], what + ", naive");
      EXPECT_EQ(of_parts[k], of_whole[k]) << what << ", parted";
    }
  }
  EXPECT_GT(compared, kExpressions * 3 / 4);
}

}  // namespace
}  // namespace starpmc::expression
