#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace starpmc {

/// What one instruction of a Program computes. a, b, c are its operands.
enum class Operation : std::uint8_t {
  add,                     ///< a + b
  subtract,                ///< a - b
  multiply,                ///< a b
  divide,                  ///< a / b
  negate,                  ///< -a
  reciprocal,              ///< 1 / a
  square_root,             ///< a^(1/2)
  reciprocal_square_root,  ///< a^(-1/2)
  power,                   ///< a^b, b any real number
  exp,
  log,  ///< natural
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,  ///< angle of the point (b, a)
  sinh,
  cosh,
  tanh,
  erf,
  erfc,
  abs,
  floor,
  ceil,
  min,     ///< the lesser of a and b
  max,     ///< the greater of a and b
  step,    ///< 0 where a < 0, else 1
  delta,   ///< 1 where a = 0, else 0
  select,  ///< c where a = 0, else b
};

/// One instruction: operands are value numbers (see Program); unused ones are 0.
struct Instruction {
  Operation operation;
  std::array<std::uint32_t, 3> operands{};

  bool operator==(const Instruction&) const = default;
};

/// A straight-line program in single-assignment form: what expressions are translated to, and what
/// every evaluator and emitter reads.
///
/// Values are numbered: first the inputs, then the constants, then the result of each instruction.
/// An instruction's operands have lower numbers than its result; outputs are value numbers.
struct Program {
  std::vector<std::string> inputs;  ///< names, for people; evaluators go by position
  std::vector<double> constants;
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> outputs;

  std::uint32_t first_constant() const { return static_cast<std::uint32_t>(inputs.size()); }
  std::uint32_t first_result() const {
    return first_constant() + static_cast<std::uint32_t>(constants.size());
  }
  std::uint32_t values() const {
    return first_result() + static_cast<std::uint32_t>(instructions.size());
  }
  bool operator==(const Program&) const = default;
};

/// Operands an operation reads: 1, 2 or 3.
constexpr int operand_count(Operation operation) {
  switch (operation) {
    case Operation::select:
      return 3;
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::power:
    case Operation::atan2:
    case Operation::min:
    case Operation::max:
      return 2;
    default:
      return 1;
  }
}

/// A Program parted by what its inputs vary with: `once` is evaluated once per set of parameters
/// (per pair of site types, say), `each` for every pair. The inputs of `each` are the varying
/// inputs in their order, then the outputs of `once`; its outputs are those of the whole.
struct PartedProgram {
  Program once;
  Program each;
};

}  // namespace starpmc
