// Operation counts: the examples of the article that this translation follows (P. Eastman,
// "Efficiently Evaluating Mathematical Expressions with OpenCL Code"), and what may not be lost.
#include "expression/translate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expression/addition_chain.hpp"
#include "expression/count.hpp"
#include "expression/derivative.hpp"
#include "expression/evaluate_program.hpp"
#include "expression/parse.hpp"
#include "expression/part.hpp"

namespace starpmc::expression {
namespace {

using testing::ElementsAre;
using enum Operation;

const std::string kLennardJones = "4*epsilon*((sigma/r)^12-(sigma/r)^6)";
const std::string kShiftedForce = "k*q1*q2*(1/r-1/rc+(r-rc)/rc^2)";
const TranslationOptions kOfPairs{
    .inputs = {}, .squared_variable = "r", .square_input = "r_squared", .varying = {"r_squared"}};

Program translated(const std::vector<std::string>& texts, const TranslationOptions& options = {}) {
  Pool pool;
  std::vector<Node> outputs;
  for (const std::string& text : texts) outputs.push_back(parse(pool, text));
  return translate(pool, outputs, options);
}

Program with_derivative(const std::string& text, const TranslationOptions& options = {}) {
  Pool pool;
  const Node energy = parse(pool, text);
  const std::vector<Node> outputs{energy, derivative(pool, energy, "r")};
  return translate(pool, outputs, options);
}

std::size_t count(const Program& program, Operation operation) {
  return count_operations(program).of(operation);
}

std::size_t slow_operations(const Program& program) {
  return count(program, divide) + count(program, reciprocal) + count(program, square_root) +
         count(program, reciprocal_square_root) + count(program, power);
}

TEST(SeedExamples, OneToOneTakesAPowForEachPower) {
  Pool pool;
  const Node energy = parse(pool, kLennardJones);
  const Program naive = translate_naively(pool, {&energy, 1});
  EXPECT_EQ(count(naive, power), 2u);
  EXPECT_EQ(count(naive, divide), 2u);
}

TEST(SeedExamples, TheRatioIsComputedOnce) {
  const Program program = translated({kLennardJones});
  EXPECT_EQ(count(program, divide), 1u);
  EXPECT_EQ(slow_operations(program), 1u);
}

TEST(SeedExamples, TheTwelfthPowerTakesFourMultiplicationsAndTheSixthThree) {
  EXPECT_EQ(count(translated({"x^12"}), multiply), 4u);
  EXPECT_EQ(count(translated({"x^6"}), multiply), 3u);
}

TEST(SeedExamples, BothPowersTakeAtMostFiveMultiplications) {
  // The article's squarings take five; x^12 as the square of x^6 spares one.
  const Program program = translated({"x^12", "x^6"});
  EXPECT_EQ(program.instructions.size(), 4u);
  EXPECT_EQ(count(program, multiply), 4u);
}

TEST(SeedExamples, FourPowersOfEnergyAndDerivativeShareOneChain) {
  const Program program = translated({"x^12", "x^6", "x^11", "x^5"});
  EXPECT_EQ(count(program, multiply), 6u);
  EXPECT_EQ(program.instructions.size(), 6u);
  Pool pool;
  const Node energy = parse(pool, "4*epsilon*(x^12-x^6)");
  const std::vector<Node> both{energy, derivative(pool, energy, "x")};
  const Program joint = translate(pool, both);
  EXPECT_EQ(slow_operations(joint), 0u);
  const Program apart_energy = translate(pool, {both.data(), 1});
  const Program apart_slope = translate(pool, {both.data() + 1, 1});
  EXPECT_LT(joint.instructions.size(),
            apart_energy.instructions.size() + apart_slope.instructions.size());
}

TEST(SeedExamples, EnergyAndDerivativeDivideOnceTogether) {
  const Program program = with_derivative(kLennardJones);
  EXPECT_EQ(slow_operations(program), 1u);
  EXPECT_LE(program.instructions.size(), 15u);
}

TEST(Powers, NegativePowersComeFromOneReciprocal) {
  const Program program = translated({"a/x^3 + b/x^7", "c/x"});
  EXPECT_EQ(slow_operations(program), 1u);
  EXPECT_EQ(count(program, reciprocal), 1u);
}

TEST(Powers, HalfIntegersComeFromOneRoot) {
  const Program program = translated({"x^0.5 + y*x^2.5", "x^1.5"});
  EXPECT_EQ(count(program, square_root), 1u);
  EXPECT_EQ(slow_operations(program), 1u);
  const Program reciprocals = translated({"y*x^-0.5", "x^-1.5"});
  EXPECT_EQ(count(reciprocals, reciprocal_square_root), 1u);
  EXPECT_EQ(slow_operations(reciprocals), 1u);
}

TEST(Powers, OthersThatDifferByIntegersTakeOnePow) {
  EXPECT_EQ(count(translated({"x^2.3", "x^1.3", "y*x^0.3"}), power), 1u);
  EXPECT_EQ(count(translated({"x^1025"}), power), 1u);
  EXPECT_EQ(count(translated({"x^1024"}), multiply), 10u);
}

TEST(Powers, RootsAreZeroAtZero) {
  const std::vector<double> zero{0.0};
  for (const std::string text : {"sqrt(x)", "x^1.5", "x^2.3", "sqrt(x) + x^1.5", "x^0.3 + x^1.3"}) {
    EXPECT_EQ(evaluate_program<double>(translated({text}), zero)[0], 0) << text;
  }
  Pool pool;
  const Node energy = parse(pool, "x^1.5");
  const std::vector<Node> both{energy, derivative(pool, energy, "x")};
  EXPECT_THAT(evaluate_program<double>(translate(pool, both), zero), ElementsAre(0, 0));
}

TEST(Powers, IntegersAreNotMadeFromARootThatANegativeBaseDoesNotHave) {
  const std::vector<double> minus_two{-2.0};
  const auto value = [&](const std::string& text) {
    return evaluate_program<double>(translated({text}), minus_two)[0];
  };
  EXPECT_DOUBLE_EQ(value("select(step(x), 1/sqrt(x), 1/x)"), -0.5);
  EXPECT_DOUBLE_EQ(value("select(step(x), x^-2.5, x^-1 + x^-3)"), -0.625);
  EXPECT_DOUBLE_EQ(value("select(step(x), x^1.5, x^2)"), 4);
  EXPECT_DOUBLE_EQ(value("select(step(x), sqrt(x) + x^3.5, 1/x^2 + x^3)"), -7.75);
}

TEST(Powers, IntegersAndHalvesTogetherHaveTheirValues) {
  const std::vector<double> four{4.0};
  const Program program = translated({"x^1.5", "x^3", "x^0.5", "x^-1.5", "x^-2", "x^-3.5"});
  EXPECT_THAT(evaluate_program<double>(program, four),
              ElementsAre(8, 64, 2, 0.125, 0.0625, 0.0078125));
  EXPECT_EQ(count(program, square_root), 1u);
  EXPECT_EQ(slow_operations(program), 3u);
}

TEST(SquaredVariable, TheEvenPowersNeedNoRoot) {
  const Program program = translated({kLennardJones}, kOfPairs);
  EXPECT_EQ(slow_operations(program), 1u);
  EXPECT_EQ(count(program, reciprocal_square_root), 0u);
}

TEST(SquaredVariable, OneReciprocalRootGivesBothTheDistanceAndItsReciprocal) {
  for (const std::string& text : {kShiftedForce, std::string("k/r^3 + r + r^2 + c/r^2")}) {
    const Program program = part(with_derivative(text, kOfPairs), kOfPairs.varying).each;
    EXPECT_EQ(slow_operations(program), 1u) << text;
    EXPECT_EQ(count(program, reciprocal_square_root), 1u) << text;
  }
}

TEST(SquaredVariable, WithoutDivisionTheDistanceIsARootAndMayBeZero) {
  const Program program = with_derivative("k*(r-x)^2", kOfPairs);
  EXPECT_EQ(count(program, square_root), 1u);
  const std::vector<double> inputs{2, 0, 3};  // k, r_squared, x
  EXPECT_THAT(program.inputs, ElementsAre("k", "r_squared", "x"));
  EXPECT_THAT(evaluate_program<double>(program, inputs), ElementsAre(18, -12));
}

TEST(Parted, APairCostsWhatAHandWrittenKernelDoes) {
  const auto lennard_jones = part(translated({kLennardJones}, kOfPairs), kOfPairs.varying);
  EXPECT_LE(lennard_jones.each.instructions.size(), 6u);
  EXPECT_EQ(lennard_jones.once.outputs.size(), 2u);
  const auto coulomb = part(translated({kShiftedForce}, kOfPairs), kOfPairs.varying);
  EXPECT_LE(coulomb.each.instructions.size(), 5u);
  EXPECT_LE(coulomb.once.outputs.size(), 3u);
  const auto together =
      part(translated({kLennardJones + "+" + kShiftedForce}, kOfPairs), kOfPairs.varying);
  EXPECT_LE(together.each.instructions.size(), 12u);
  EXPECT_LE(together.once.outputs.size(), 5u);
  const auto both = part(with_derivative(kLennardJones, kOfPairs), kOfPairs.varying);
  EXPECT_LE(both.each.instructions.size(), 11u);
  EXPECT_EQ(slow_operations(both.each), 1u);
}

TEST(Parted, WhatDoesNotVaryIsComputedOnceAndWhatIsNotNeededNever) {
  const Program program = translated(
      {"sqrt(epsilon1*epsilon2)*exp(-a*r)/(b + c)"},
      {.inputs = {"unused", "a", "r", "b", "c", "epsilon1", "epsilon2"}, .varying = {"r"}});
  const PartedProgram parted = part(program, std::vector<std::string>{"r"});
  EXPECT_THAT(parted.once.inputs, ElementsAre("unused", "a", "b", "c", "epsilon1", "epsilon2"));
  EXPECT_EQ(parted.each.inputs.size(), 3u);  // r and two coefficients
  EXPECT_EQ(slow_operations(parted.each), 0u);
  EXPECT_EQ(parted.each.instructions.size(), 3u);  // a r, exp, times a coefficient
}

TEST(Parted, OutputsThatDoNotVaryPassThrough) {
  const Program program = translated({"a", "2", "a*r"}, {.inputs = {"a", "r"}, .varying = {"r"}});
  const PartedProgram parted = part(program, std::vector<std::string>{"r"});
  const auto once = evaluate_program<double>(parted.once, std::vector<double>{5});
  std::vector<double> inputs{3};
  inputs.insert(inputs.end(), once.begin(), once.end());
  EXPECT_THAT(evaluate_program<double>(parted.each, inputs), ElementsAre(5, 2, 15));
  EXPECT_THROW(part(program, std::vector<std::string>{"q"}), InputError);
}

TEST(Translate, NamesAreFoundOrRefused) {
  EXPECT_THROW(translated({"a*b"}, {.inputs = {"a"}, .varying = {}}), InputError);
  EXPECT_THAT(
      translated({"b*a + r"}, {.inputs = {}, .squared_variable = "r", .varying = {}}).inputs,
      ElementsAre("a", "b", "r_squared"));
}

/// The fewest multiplications, by trying all chains that are no longer.
bool chain_exists(std::vector<std::uint32_t>& chain, std::uint32_t target, std::size_t steps) {
  if (chain.back() == target) return true;
  if (steps == 0) return false;
  const std::vector<std::uint32_t> before = chain;
  for (const std::uint32_t a : before) {
    for (const std::uint32_t b : before) {
      if (a + b <= chain.back() || a + b > target) continue;
      chain.push_back(a + b);
      if (chain_exists(chain, target, steps - 1)) return true;
      chain.pop_back();
    }
  }
  return false;
}

TEST(AdditionChain, IsShortestForSmallPowers) {
  const std::vector<std::uint32_t> given{1};
  for (std::uint32_t target = 2; target <= 40; ++target) {
    const auto steps = addition_chain(given, std::vector{target});
    std::vector<std::uint32_t> chain{1};
    EXPECT_FALSE(chain_exists(chain, target, steps.size() - 1)) << target;
  }
}

TEST(AdditionChain, MakesEveryTargetFromWhatIsThere) {
  const std::vector<std::uint32_t> given{1, 2};
  std::vector<std::uint32_t> targets;
  for (std::uint32_t i = 1; i <= 60; ++i) {
    targets.push_back((i * 7919) % 1021 + 1);
    std::vector<std::uint32_t> known = given;
    for (const auto [left, right] : addition_chain(given, targets)) {
      EXPECT_THAT(known, testing::Contains(left));
      EXPECT_THAT(known, testing::Contains(right));
      known.push_back(left + right);
    }
    for (const std::uint32_t target : targets) EXPECT_THAT(known, testing::Contains(target));
  }
}

}  // namespace
}  // namespace starpmc::expression
