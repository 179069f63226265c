#include <gtest/gtest.h>

#include <thread>

#include "error.hpp"
#include "kernels/pair_row.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "programs.hpp"

namespace starpmc::test {
namespace {

using compiled::InstructionSet;
using compiled::RowFunction;
using compiled::RowResult;
using compiled::RowShape;

/// Sources around some targets, with values for the other inputs of a program.
template <class Real>
struct Row {
  Row(const Program& program, const RowShape& shape, std::size_t count) : sources(3) {
    std::mt19937_64 random(count);
    const auto numbers = [&](std::size_t size, double low, double high) {
      std::uniform_real_distribution<double> real(low, high);
      std::vector<Real> values(size);
      for (Real& value : values) value = static_cast<Real>(real(random));
      return values;
    };
    for (auto& axis : sources) axis = numbers(count, 1, 3);
    targets = numbers(std::size_t{3} * shape.targets, -0.5, 0.5);
    for (std::uint32_t i = 0; i < program.inputs.size(); ++i) {
      if (!shape.uniform.empty() && shape.uniform[i]) {
        uniform.push_back(numbers(1, 0.3, 3)[0]);
      } else if (i != shape.squared_distance) {
        varying.push_back(numbers(count, 0.3, 3));
      }
    }
    cutoffs = numbers(program.outputs.size(), 9, 16);
  }

  std::vector<std::vector<Real>> sources;
  std::vector<Real> targets;
  std::vector<std::vector<Real>> varying;
  std::vector<Real> uniform;
  std::vector<Real> cutoffs;
};

/// One output for one pair, in fp64, and what its rounding errors are relative to.
struct Expected {
  double value;
  double magnitude;
};

template <class Real>
Expected pair(const Program& program, const RowShape& shape, const Row<Real>& row, std::size_t i,
              std::size_t target, std::size_t output) {
  double r2 = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double d = static_cast<double>(row.targets[3 * target + axis]) - row.sources[axis][i];
    r2 += d * d;
  }
  r2 = std::max(r2, shape.least_squared_distance);
  std::vector<double> inputs;
  std::size_t uniform = 0;
  std::size_t varying = 0;
  for (std::uint32_t k = 0; k < program.inputs.size(); ++k) {
    if (!shape.uniform.empty() && shape.uniform[k]) {
      inputs.push_back(row.uniform[uniform++]);
    } else {
      inputs.push_back(k == shape.squared_distance ? r2 : row.varying[varying++][i]);
    }
  }
  std::vector<double> outputs(program.outputs.size());
  scalar::evaluate_exact(program, inputs, outputs);
  const double value = !shape.cut || r2 < row.cutoffs[output] ? outputs[output] : 0;
  return {value, std::abs(outputs[output])};
}

template <class Real, class Function>
void expect_row(Function& function, const Program& program, const RowShape& shape,
                std::size_t count, double tolerance) {
  const Row<Real> row(program, shape, count);
  std::vector<const Real*> varying;
  for (const auto& values : row.varying) varying.push_back(values.data());
  const std::size_t outputs = program.outputs.size();
  std::vector<double> totals(shape.targets * outputs, 0.5);
  std::vector<std::vector<Real>> rows(outputs, std::vector<Real>(count + 1, Real{0.25}));
  std::vector<Real*> row_pointers;
  for (auto& values : rows) row_pointers.push_back(values.data());
  const bool total = shape.result == RowResult::totals;
  function({{row.sources[0].data(), row.sources[1].data(), row.sources[2].data()},
            count,
            row.targets.data(),
            varying.data(),
            row.uniform.data(),
            row.cutoffs.data(),
            total ? totals.data() : nullptr,
            total ? nullptr : row_pointers.data()});
  for (std::size_t k = 0; k < outputs; ++k) {
    std::vector<Expected> per_source(count, {0.25, 0.25});
    for (std::size_t t = 0; t < shape.targets; ++t) {
      Expected sum{0.5, 0.5};
      for (std::size_t i = 0; i < count; ++i) {
        const Expected one = pair(program, shape, row, i, t, k);
        sum = {sum.value + one.value, sum.magnitude + one.magnitude};
        per_source[i].value += one.value;
        per_source[i].magnitude += one.magnitude;
      }
      if (total) {
        EXPECT_NEAR(totals[t * outputs + k], sum.value, tolerance * sum.magnitude)
            << "target " << t << ", output " << k << " of " << count;
      }
    }
    if (total) continue;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(rows[k][i], per_source[i].value, tolerance * per_source[i].magnitude)
          << "source " << i << ", output " << k;
    }
    EXPECT_EQ(rows[k][count], Real{0.25});
  }
}

template <class Real>
void expect_rows(const Program& program, const RowShape& shape,
                 std::initializer_list<std::size_t> counts, InstructionSet set, double tolerance) {
  const auto function = RowFunction<Real>::compile(program, shape, set);
  ASSERT_TRUE(function);
  for (const std::size_t count : counts) {
    expect_row<Real>(*function, program, shape, count, tolerance);
  }
}

class CompiledRow : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (compiled::best_instruction_set() < GetParam()) {
      GTEST_SKIP() << "no LLVM, or a processor without these instructions";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Sets, CompiledRow,
                         testing::Values(InstructionSet::avx2, InstructionSet::avx512),
                         [](const auto& set) {
                           return set.param == InstructionSet::avx2 ? "Avx2" : "Avx512";
                         });

/// Inputs: r^2, charge, c12, c6, 1/rc; outputs: shifted-force Coulomb and Lennard-Jones energy.
Program coulomb_and_lennard_jones() {
  Program p;
  p.inputs = {"r2", "q", "c12", "c6", "1/rc"};
  p.constants = {1};
  const auto add = [&](Operation operation, std::uint32_t a, std::uint32_t b = 0) {
    p.instructions.push_back({operation, {a, b, 0}});
    return p.values() - 1;
  };
  const auto inverse = add(Operation::reciprocal_square_root, 0);
  const auto r = add(Operation::multiply, 0, inverse);
  const auto remaining = add(Operation::subtract, 5, add(Operation::multiply, r, 4));
  const auto inverse2 = add(Operation::multiply, inverse, inverse);
  const auto inverse6 =
      add(Operation::multiply, add(Operation::multiply, inverse2, inverse2), inverse2);
  const auto charge = add(Operation::multiply, 1, inverse);
  p.outputs.push_back(
      add(Operation::multiply, charge, add(Operation::multiply, remaining, remaining)));
  const auto repulsion = add(Operation::multiply, 2, inverse6);
  p.outputs.push_back(add(Operation::multiply, inverse6, add(Operation::subtract, repulsion, 3)));
  return p;
}

TEST_P(CompiledRow, IsTheNaiveLoop) {
  const Program program = coulomb_and_lennard_jones();
  for (const RowResult result : {RowResult::totals, RowResult::per_source}) {
    for (const std::uint32_t targets : {1U, 3U}) {
      const RowShape shape{0, {false, false, true, true, true}, targets, result, 0};
      expect_rows<double>(program, shape, {0, 1, 7, 16, 33, 600}, GetParam(), 2e-15);
      expect_rows<float>(program, shape, {0, 1, 7, 16, 33, 600}, GetParam(), 2e-6);
    }
  }
}

/// (1 + slope r^2)/r and what is added or subtracted, with charges: the shifted-force Coulomb
/// function.
Program growing(bool slope_first, std::uint32_t form) {
  Program p;
  p.inputs = {"r2", "q", "slope"};
  p.constants = {1, 0.2};
  const auto add = [&](Operation operation, std::uint32_t a, std::uint32_t b = 0) {
    p.instructions.push_back({operation, {a, b, 0}});
    return p.values() - 1;
  };
  const auto inverse = add(Operation::reciprocal_square_root, 0);
  const auto square = slope_first ? add(Operation::multiply, 2, 0) : add(Operation::multiply, 0, 2);
  const auto growth = add(Operation::add, square, 3);
  const auto product = slope_first ? add(Operation::multiply, growth, inverse)
                                   : add(Operation::multiply, inverse, growth);
  const std::array<std::uint32_t, 4> energies{product, add(Operation::subtract, product, 4),
                                              add(Operation::subtract, 4, product),
                                              add(Operation::add, product, inverse)};
  p.outputs = {add(Operation::multiply, energies[form], 1)};
  return p;
}

TEST_P(CompiledRow, GrowthOverDistanceIsTheNaiveLoop) {
  for (const bool cut : {false, true}) {
    RowShape shape{.uniform = {false, false, true}, .targets = 4, .cut = cut};
    for (const bool slope_first : {false, true}) {
      for (std::uint32_t form = 0; form < 4; ++form) {
        expect_rows<double>(growing(slope_first, form), shape, {33, 256}, GetParam(), 2e-15);
        expect_rows<float>(growing(slope_first, form), shape, {33, 256}, GetParam(), 6e-7);
      }
    }
  }
}

TEST_P(CompiledRow, QuotientsByTheSquaredDistanceAreTheNaiveOnes) {
  Program p;
  p.inputs = {"r2", "q", "c"};
  p.instructions = {{Operation::divide, {2, 0, 0}},
                    {Operation::divide, {1, 0, 0}},
                    {Operation::multiply, {3, 4, 0}},
                    {Operation::divide, {0, 0, 0}},
                    {Operation::add, {5, 6, 0}}};
  p.outputs = {7, 4};
  for (const double least : {0.0, 12.5}) {
    const RowShape shape{0, {false, false, true}, 2, RowResult::totals, least};
    expect_rows<double>(p, shape, {33, 256}, GetParam(), 2e-15);
    expect_rows<float>(p, shape, {33, 256}, GetParam(), 1e-6);
  }
}

TEST(BlockRow, IsTheNaiveLoop) {
  const Program program = coulomb_and_lennard_jones();
  for (const RowResult result : {RowResult::totals, RowResult::per_source}) {
    for (const double least : {0.0, 12.5}) {
      const RowShape shape{0, {false, false, true, true, true}, 3, result, least};
      simd::BlockRow<double> wide(program, shape);
      simd::BlockRow<float> narrow(program, shape);
      for (const std::size_t count : {0U, 1U, 7U, 33U, 600U}) {
        expect_row<double>(wide, program, shape, count, 2e-15);
        expect_row<float>(narrow, program, shape, count, 2e-6);
      }
    }
  }
  EXPECT_THROW(simd::BlockRow<float>(program, {9, {}, 1, RowResult::totals, 0}), RunError);
}

TEST(PairRow, TakesProgramsOfEveryKind) {
  Program circular;
  circular.inputs = {"b", "r2"};
  circular.instructions = {{Operation::sin, {1, 0, 0}}, {Operation::multiply, {0, 2, 0}}};
  circular.outputs = {3};
  const RowShape shape{1, {}, 2, RowResult::totals, 0};
  PairRow<double> row(circular, shape);
  EXPECT_FALSE(row.is_compiled());
  expect_row<double>(row, circular, shape, 50, 2e-15);
  const RowShape plain{0, {}, 2, RowResult::totals, 0};
  PairRow<double> other(coulomb_and_lennard_jones(), plain);
  EXPECT_EQ(other.is_compiled(), compiled::best_instruction_set() != InstructionSet::portable);
  PairRow<double> copy = other;
  expect_row<double>(copy, coulomb_and_lennard_jones(), plain, 50, 2e-15);
}

/// The sum of `terms` exponentials of the first input.
Program exponentials(std::uint32_t terms) {
  Program p;
  p.inputs = {"r2"};
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < terms; ++i) {
    p.instructions.push_back({Operation::multiply, {sum, 0, 0}});
    p.instructions.push_back({Operation::negate, {p.values() - 1, 0, 0}});
    p.instructions.push_back({Operation::exp, {p.values() - 1, 0, 0}});
    sum = p.values() - 1;
  }
  p.outputs = {sum};
  return p;
}

TEST(PairRow, HugeProgramsRunUncompiled) {
  PairRow<double> few(exponentials(10), {});
  EXPECT_EQ(few.is_compiled(), compiled::best_instruction_set() != InstructionSet::portable);
  PairRow<double> many(exponentials(2000), {});
  EXPECT_FALSE(many.is_compiled());
  expect_row<double>(many, exponentials(2000), {}, 20, 1e-12);
}

TEST_P(CompiledRow, LeastDistanceCounts) {
  const RowShape shape{0, {}, 2, RowResult::totals, 12.5};
  expect_rows<double>(coulomb_and_lennard_jones(), shape, {100}, GetParam(), 2e-15);
}

TEST_P(CompiledRow, RandomProgramsAreTheScalarOnes) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 10; ++i) {
    Program program = random_program(random, 20, benign_operations());
    // values of any magnitude are all the same to fp64's relative errors, but not their sums
    const RowShape shape{1, {i % 2 == 0, false, i % 3 == 0, false}, 1, RowResult::per_source, 0};
    expect_rows<double>(program, shape, {50}, GetParam(), 1e-12);
  }
}

TEST_P(CompiledRow, EveryOperationIsTheScalarOne) {
  for (int i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    Program program;
    program.inputs = {"r2", "b", "c"};
    program.constants = {0.02};
    // asin and acos want something below 1
    program.instructions = {{Operation::multiply, {0, 3, 0}}, {operation, {4, 1, 2}}};
    program.outputs = {5};
    const RowShape shape{0, {}, 1, RowResult::per_source, 0};
    const bool circular =
        operation == Operation::sin || operation == Operation::cos || operation == Operation::tan;
    ASSERT_EQ(RowFunction<double>::compile(program, shape, GetParam()).has_value(), !circular)
        << "operation " << i;
    if (circular) continue;
    expect_rows<double>(program, shape, {100}, GetParam(), 2e-15);
    if (operation == Operation::floor || operation == Operation::ceil) continue;
    expect_rows<float>(program, shape, {100}, GetParam(), 1e-6);
  }
}

TEST_P(CompiledRow, ThreadsShareIt) {
  const Program program = coulomb_and_lennard_jones();
  const RowShape shape{0, {false, false, true, true, true}, 1, RowResult::totals, 0};
  const auto function = RowFunction<double>::compile(program, shape, GetParam());
  ASSERT_TRUE(function);
  const Row<double> row(program, shape, 1000);
  const double* const charges = row.varying[0].data();
  std::vector<std::vector<double>> totals(4, std::vector<double>(2, 0.0));
  {
    std::vector<std::jthread> threads;
    for (auto& total : totals) {
      threads.emplace_back([&row, &charges, &total, copy = *function] {
        copy({{row.sources[0].data(), row.sources[1].data(), row.sources[2].data()},
              1000,
              row.targets.data(),
              &charges,
              row.uniform.data(),
              row.cutoffs.data(),
              total.data(),
              nullptr});
      });
    }
  }
  for (const auto& total : totals) EXPECT_EQ(total, totals[0]);
}

TEST_P(CompiledRow, RefusesShapesThatDoNotFit) {
  const Program program = coulomb_and_lennard_jones();
  const auto compile = [&](const RowShape& shape) {
    return RowFunction<double>::compile(program, shape, GetParam());
  };
  EXPECT_THROW(compile({9, {}, 1, RowResult::totals, 0}), RunError);
  EXPECT_THROW(compile({0, {true}, 1, RowResult::totals, 0}), RunError);
  EXPECT_THROW(compile({0, {true, false, false, false, false}, 1, RowResult::totals, 0}), RunError);
  EXPECT_THROW(compile({0, {}, 5, RowResult::totals, 0}), RunError);
}

}  // namespace
}  // namespace starpmc::test
