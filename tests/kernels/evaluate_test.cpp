#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>

#include "kernels/base/error.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "kernels/simd/evaluate.hpp"
#include "programs.hpp"

namespace starpmc::test {
namespace {

/// Values of each input (or output) of some sets.
template <class Real>
using Columns = std::vector<std::vector<Real>>;

template <class Real>
Columns<Real> by_blocks(simd::BlockEvaluator<Real>& evaluator, const Columns<Real>& inputs,
                        std::size_t count, std::size_t outputs) {
  Columns<Real> results(outputs, std::vector<Real>(count));
  std::vector<const Real*> from;
  std::vector<Real*> to;
  for (const auto& column : inputs) from.push_back(column.data());
  for (auto& column : results) to.push_back(column.data());
  evaluator(from, count, to);
  return results;
}

template <class Real>
std::vector<Real> row(const Columns<Real>& columns, std::size_t i) {
  std::vector<Real> values;
  for (const auto& column : columns) values.push_back(column[i]);
  return values;
}

/// Columns of random bits, with edge values among them.
Columns<double> wild_columns(std::size_t columns, std::size_t count) {
  std::mt19937_64 random(3);
  const std::vector<double> edges = edge_values();
  Columns<double> result(columns, std::vector<double>(count));
  std::uniform_real_distribution<double> ordinary(-30, 30);
  for (auto& column : result) {
    for (double& value : column) {
      switch (random() % 4) {
        case 0:
          value = std::bit_cast<double>(random());
          break;
        case 1:
          value = edges[random() % edges.size()];
          break;
        default:
          value = ordinary(random);
      }
    }
  }
  return result;
}

template <class Real>
Columns<Real> tame_columns(std::size_t columns, std::size_t count) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> ordinary(0.3, 3);
  Columns<Real> result(columns, std::vector<Real>(count));
  for (auto& column : result) {
    for (Real& value : column) value = static_cast<Real>(ordinary(random));
  }
  return result;
}

void expect_scalar_bits(const Program& program, const Columns<double>& inputs) {
  const std::size_t count = inputs[0].size();
  simd::BlockEvaluator<double> evaluator(program, simd::Rounding::exact);
  const auto results = by_blocks(evaluator, inputs, count, program.outputs.size());
  std::vector<double> expected(program.outputs.size());
  for (std::size_t i = 0; i < count; ++i) {
    scalar::evaluate_exact(program, row(inputs, i), expected);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_TRUE(same_bits(results[k][i], expected[k]))
          << "output " << k << " of set " << i << ": " << results[k][i] << " instead of "
          << expected[k] << "; inputs " << testing::PrintToString(row(inputs, i));
    }
  }
}

/// Every instruction set that this program has and this CPU runs.
class EachInstructionSet : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { choose(GetParam()); }
  void TearDown() override { choose(0); }

 private:
  static void choose(std::int64_t sets) {
    hwy::SetSupportedTargetsForTest(sets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

std::vector<std::int64_t> instruction_sets() {
  std::vector<std::int64_t> sets;
  for (std::int64_t left = hwy::SupportedTargets() & (HWY_SSE4 | HWY_AVX2 | HWY_AVX3); left != 0;
       left &= left - 1) {
    sets.push_back(left & -left);
  }
  return sets;
}
INSTANTIATE_TEST_SUITE_P(Sets, EachInstructionSet, testing::ValuesIn(instruction_sets()),
                         [](const auto& set) { return hwy::TargetName(set.param); });

TEST_P(EachInstructionSet, ExactOperationsHaveTheScalarBits) {
  expect_scalar_bits(all_operations(), wild_columns(3, 4007));
  expect_scalar_bits(multiply_adds(), wild_columns(3, 100));
}

TEST_P(EachInstructionSet, ExactRandomProgramsHaveTheScalarBits) {
  std::mt19937_64 random(1);
  const auto inputs = wild_columns(4, 333);
  for (int i = 0; i < 60; ++i) {
    expect_scalar_bits(random_program(random, 5 + i % 40, every_operation()), inputs);
  }
}

/// Error of quick results, relative to those of fp64, where no intermediate value leaves the range
/// of fp32.
template <class Real>
void expect_quick(const Program& program, const std::vector<bool>& uniform, double tolerance) {
  const std::size_t count = 165;
  Columns<Real> inputs = tame_columns<Real>(program.inputs.size(), count);
  Columns<Real> varying;
  std::vector<Real> same;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!uniform.empty() && uniform[i]) {
      inputs[i].assign(count, inputs[i][0]);
      same.push_back(inputs[i][0]);
    } else {
      varying.push_back(inputs[i]);
    }
  }
  simd::BlockEvaluator<Real> evaluator(program, simd::Rounding::quick, uniform);
  evaluator.set_uniform(same);
  const auto results = by_blocks(evaluator, varying, count, program.outputs.size());
  Program all = program;
  for (std::uint32_t value = 0; value < program.values(); ++value) all.outputs.push_back(value);
  std::vector<double> expected(all.outputs.size());
  std::vector<Real> scalar_result(program.outputs.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<Real> set = row(inputs, i);
    scalar::evaluate<double>(all, std::vector<double>(set.begin(), set.end()), expected);
    if (std::ranges::any_of(expected, [](double x) { return !(x > 1e-30 && x < 1e30); })) continue;
    scalar::evaluate<Real>(program, set, scalar_result);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const double bound = tolerance * std::abs(expected[k]);
      ASSERT_NEAR(static_cast<double>(results[k][i]), expected[k], bound) << "output " << k;
      ASSERT_NEAR(static_cast<double>(scalar_result[k]), expected[k], bound) << "output " << k;
    }
  }
}

TEST_P(EachInstructionSet, QuickProgramsAreTheScalarOnes) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 60; ++i) {
    const Program program = random_program(random, 5 + i, benign_operations());
    const std::vector<bool> uniform{(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, i % 16 == 15};
    expect_quick<double>(program, uniform, 1e-12);
    expect_quick<float>(program, uniform, 1e-3);
  }
}

/// Every kind of operand in every place, by one operation at a time.
TEST_P(EachInstructionSet, UniformOperandsAreBroadcast) {
  for (const Program& program : {all_operations(), multiply_adds()}) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      const std::vector<bool> uniform{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
      const std::size_t count = 70;
      Columns<double> inputs = tame_columns<double>(3, count);
      Columns<double> varying;
      std::vector<double> same;
      for (std::size_t i = 0; i < 3; ++i) {
        if (uniform[i]) inputs[i].assign(count, inputs[i][0]);
        if (uniform[i])
          same.push_back(inputs[i][0]);
        else
          varying.push_back(inputs[i]);
      }
      simd::BlockEvaluator<double> evaluator(program, simd::Rounding::exact, uniform);
      simd::BlockEvaluator<double> quick(program, simd::Rounding::quick, uniform);
      evaluator.set_uniform(same);
      quick.set_uniform(same);
      const auto results = by_blocks(evaluator, varying, count, program.outputs.size());
      const auto quick_results = by_blocks(quick, varying, count, program.outputs.size());
      std::vector<double> expected(program.outputs.size());
      for (std::size_t i = 0; i < count; ++i) {
        scalar::evaluate_exact(program, row(inputs, i), expected);
        for (std::size_t k = 0; k < expected.size(); ++k) {
          ASSERT_TRUE(same_bits(results[k][i], expected[k]))
              << "output " << k << ", uniform " << bits;
          if (std::isnan(expected[k])) continue;
          ASSERT_NEAR(quick_results[k][i], expected[k],
                      1e-14 * std::max(10.0, std::abs(expected[k])))
              << "output " << k << ", uniform " << bits;
        }
      }
    }
  }
}

TEST_P(EachInstructionSet, SinglePrecisionFunctionsAreTheDoubleOnesRounded) {
  const Program program = all_operations();
  const auto inputs = tame_columns<float>(3, 500);
  simd::BlockEvaluator<float> evaluator(program);
  const auto results = by_blocks(evaluator, inputs, 500, program.outputs.size());
  std::vector<double> expected(program.outputs.size());
  for (std::size_t i = 0; i < 500; ++i) {
    const std::vector<float> set = row(inputs, i);
    scalar::evaluate_exact(program, std::vector<double>(set.begin(), set.end()), expected);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (std::isnan(expected[k])) {
        ASSERT_TRUE(std::isnan(results[k][i]));
        continue;
      }
      ASSERT_NEAR(results[k][i], expected[k], 1.3e-7 * std::abs(expected[k])) << "output " << k;
    }
  }
}

TEST(BlockEvaluator, RowsAreUsedAgain) {
  // ((a + a) + a) + a ...: one value is alive at a time
  Program program;
  program.inputs = {"a"};
  for (std::uint32_t i = 0; i < 1000; ++i)
    program.instructions.push_back({Operation::add, {i, 0, 0}});
  program.outputs = {1000};
  const simd::BlockProgram block(program, simd::Rounding::quick, {});
  EXPECT_LE(block.intermediate_rows, 2U);
  std::vector<double> inputs(77);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<double>(i);
  simd::BlockEvaluator<double> evaluator(program);
  EXPECT_EQ(by_blocks<double>(evaluator, {inputs}, 77, 1)[0][76], 76 * 1001.0);
}

TEST(BlockEvaluator, WritesNothingBeyondTheCount) {
  simd::BlockEvaluator<float> evaluator(multiply_adds());
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 600U}) {
    const auto inputs = tame_columns<float>(3, count);
    Columns<float> results(6, std::vector<float>(count + 1, -7));
    std::vector<const float*> from;
    std::vector<float*> to;
    for (const auto& column : inputs) from.push_back(column.data());
    for (auto& column : results) to.push_back(column.data());
    evaluator(from, count, to);
    for (const auto& column : results) {
      EXPECT_EQ(column[count], -7);
      for (std::size_t i = 0; i < count; ++i) ASSERT_NE(column[i], -7);
    }
  }
}

TEST(Evaluators, RefuseWhatDoesNotFit) {
  const Program program = all_operations();
  std::vector<double> outputs(program.outputs.size());
  EXPECT_THROW(scalar::evaluate<double>(program, std::array{1.0, 2.0}, outputs), RunError);
  EXPECT_THROW(simd::BlockEvaluator<double>(program, simd::Rounding::quick, {true}), RunError);
  EXPECT_THROW(simd::BlockEvaluator<float>(program, simd::Rounding::exact), RunError);
  simd::BlockEvaluator<double> evaluator(program);
  EXPECT_THROW(evaluator({}, 1, {}), RunError);
}

}  // namespace
}  // namespace starpmc::test
