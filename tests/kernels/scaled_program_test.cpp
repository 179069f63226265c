#include "kernels/scaled_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/scalar/evaluate.hpp"
#include "two_systems.hpp"

namespace starpmc::test {
namespace {

constexpr double kCutoff = 9;

/// (1 + r^2/rc^2) / r - 2/rc.
Program growing() {
  Writer write({"r2"}, {1, 1 / (kCutoff * kCutoff), 2 / kCutoff});
  const auto inverse = write(Operation::reciprocal_square_root, 0);
  const auto growth = write(Operation::add, 1, write(Operation::multiply, 0, 2));
  const auto product = write(Operation::multiply, growth, inverse);
  return write.returns(write(Operation::subtract, product, 3));
}

/// What scales in every way: exp(-r) / r^3 + max(1/r^2, r) - |r^2 - 2| + 0.1 sqrt(r^2 r^2).
Program mixed() {
  Writer write({"r2"}, {2, 0.1});
  const auto r = write(Operation::square_root, 0);
  const auto inverse = write(Operation::reciprocal_square_root, 0);
  const auto inverse2 = write(Operation::reciprocal, 0);
  const auto inverse3 = write(Operation::multiply, inverse2, inverse);
  const auto decay = write(Operation::exp, write(Operation::negate, r));
  const auto first = write(Operation::multiply, decay, inverse3);
  const auto second = write(Operation::max, inverse2, r);
  const auto third = write(Operation::abs, write(Operation::subtract, 0, 1));
  const auto fourth = write(Operation::multiply, 2,
                            write(Operation::square_root, write(Operation::multiply, 0, 0)));
  const auto half = write(Operation::subtract, write(Operation::add, first, second), third);
  return write.returns(write(Operation::add, half, fourth));
}

template <class Real>
double value(const Program& program, std::vector<Real> inputs) {
  Real result = 0;
  std::vector<Real> values;
  scalar::evaluate<Real>(program, inputs, std::span(&result, 1), values);
  return static_cast<double>(result);
}

std::size_t varying_instructions(const Program& program) {
  std::vector<bool> varies(program.values(), false);
  varies[0] = true;
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const auto operands =
        std::span(instruction.operands)
            .first(static_cast<std::size_t>(operand_count(instruction.operation)));
    const bool any = std::ranges::any_of(
        operands, [&](std::uint32_t operand) { return static_cast<bool>(varies[operand]); });
    varies[program.first_result() + i] = any;
    count += any ? 1 : 0;
  }
  return count;
}

TEST(ScaledProgram, ComputesTheSameInAnyUnit) {
  for (const Program& program : {growing(), coulomb_program(kCutoff), mixed()}) {
    const Program scaled = in_length_unit(program);
    ASSERT_EQ(scaled.inputs.size(), 2U);
    for (const double unit : {7.9e-9, 2.5e-8, 0.3}) {
      for (const double r : {0.01, 0.5, 3.0, 8.9}) {
        const double expected = value<double>(program, {r * r});
        const double one = value<double>(scaled, {r * r / (unit * unit), unit}) / unit;
        EXPECT_NEAR(one, expected, 1e-12 * std::max(1.0, std::abs(expected)));
        const float length = static_cast<float>(r / unit);
        const double single =
            value<float>(scaled, {length * length, static_cast<float>(unit)}) / unit;
        EXPECT_NEAR(single, expected, 3e-6 * std::max(1.0, std::abs(expected)));
      }
    }
  }
}

/// As the hand-tuned kernel, which takes its constants in the unit.
TEST(ScaledProgram, BuiltInFormScalesConstantsOnly) {
  EXPECT_EQ(varying_instructions(in_length_unit(growing())), varying_instructions(growing()));
  EXPECT_LE(varying_instructions(in_length_unit(coulomb_program(kCutoff))),
            varying_instructions(coulomb_program(kCutoff)) + 1);
}

}  // namespace
}  // namespace starpmc::test
