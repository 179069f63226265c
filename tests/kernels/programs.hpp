#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/program.hpp"

/// Programs made by hand and by chance, for tests of what evaluates them.
namespace starpmc::test {

inline constexpr int kOperations = static_cast<int>(Operation::select) + 1;

/// Three inputs; one output per operation, in the operations' order.
inline Program all_operations() {
  Program program;
  program.inputs = {"a", "b", "c"};
  for (int i = 0; i < kOperations; ++i) {
    program.instructions.push_back({static_cast<Operation>(i), {0, 1, 2}});
    program.outputs.push_back(program.values() - 1);
  }
  return program;
}

/// a b + c, c + a b, a b - c, c - a b, and a product that is an output itself.
inline Program multiply_adds() {
  Program p;
  p.inputs = {"a", "b", "c"};
  const auto add = [&](Operation operation, std::uint32_t a, std::uint32_t b) {
    p.instructions.push_back({operation, {a, b, 0}});
    return p.values() - 1;
  };
  const auto product = [&] { return add(Operation::multiply, 0, 1); };
  p.outputs.push_back(add(Operation::add, product(), 2));
  p.outputs.push_back(add(Operation::add, 2, product()));
  p.outputs.push_back(add(Operation::subtract, product(), 2));
  p.outputs.push_back(add(Operation::subtract, 2, product()));
  p.outputs.push_back(product());
  p.outputs.push_back(add(Operation::add, p.outputs.back(), 2));
  return p;
}

/// Straight-line programs of random operations on random earlier values; some results are unused,
/// some outputs are inputs or constants, or the same value twice.
inline Program random_program(std::mt19937_64& random, int instructions,
                              const std::vector<Operation>& operations) {
  Program program;
  program.inputs = {"a", "b", "c", "d"};
  std::uniform_real_distribution<double> real(0.25, 4);
  for (int i = 0; i < 3; ++i) program.constants.push_back(real(random));
  const auto any_value = [&] {
    return std::uniform_int_distribution<std::uint32_t>(0, program.values() - 1)(random);
  };
  for (int i = 0; i < instructions; ++i) {
    const auto which = std::uniform_int_distribution<std::size_t>(0, operations.size() - 1)(random);
    Instruction instruction{operations[which]};
    for (int k = 0; k < operand_count(operations[which]); ++k) {
      instruction.operands[static_cast<std::size_t>(k)] = any_value();
    }
    program.instructions.push_back(instruction);
  }
  for (int i = 0; i < 4; ++i) program.outputs.push_back(any_value());
  program.outputs.push_back(program.values() - 1);
  return program;
}

inline std::vector<Operation> every_operation() {
  std::vector<Operation> operations;
  for (int i = 0; i < kOperations; ++i) operations.push_back(static_cast<Operation>(i));
  return operations;
}
/// Of positive numbers: positive, and with errors that stay small.
inline std::vector<Operation> benign_operations() {
  return {Operation::add,         Operation::add,
          Operation::multiply,    Operation::multiply,
          Operation::divide,      Operation::reciprocal,
          Operation::square_root, Operation::reciprocal_square_root,
          Operation::min,         Operation::max,
          Operation::abs,         Operation::select};
}

/// Zeros, infinities, NaN, subnormal, tiny, huge, whole, half and ordinary numbers of both signs.
inline std::vector<double> edge_values() {
  using Limits = std::numeric_limits<double>;
  std::vector<double> values{Limits::quiet_NaN()};
  for (const double x : {0.0,
                         Limits::denorm_min(),
                         1e-310,
                         Limits::min(),
                         1e-300,
                         1e-20,
                         1e-8,
                         0.25,
                         0.41421356237,
                         0.5,
                         std::nextafter(0.5, 1),
                         0.75,
                         std::nextafter(1.0, 0),
                         1.0,
                         std::nextafter(1.0, 2),
                         1.5,
                         2.0,
                         3.0,
                         3.141592653589793,
                         4.5,
                         21.9,
                         22.1,
                         26.5,
                         27.2,
                         28.5,
                         709.7,
                         709.8,
                         710.4,
                         710.5,
                         744.4,
                         745.2,
                         1023.0,
                         1e6,
                         1647097.9,
                         1647098.1,
                         9007199254740991.0,
                         9007199254740993.0,
                         1e22,
                         1e200,
                         1e300,
                         Limits::max(),
                         Limits::infinity()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

/// Equal, or both not a number (whose sign and payload devices choose).
inline bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace starpmc::test
