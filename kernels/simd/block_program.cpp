#include "kernels/simd/block_program.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "kernels/base/error.hpp"

namespace starpmc::simd {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Whether the evaluator has a loop for uniform operands of an instruction.
bool broadcasts(const FusedInstruction& instruction) {
  switch (instruction.operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
      return true;
    default:
      return instruction.fusion != Fusion::none;
  }
}

std::span<const std::uint32_t> operands_of(const FusedInstruction& instruction) {
  return std::span(instruction.operands)
      .first(static_cast<std::size_t>(instruction.operands_read()));
}

class Builder {
 public:
  Builder(BlockProgram& block, const Program& program, bool fuse, const std::vector<bool>& uniform)
      : block_(block),
        program_(program),
        instructions_(fused_instructions(program, fuse)),
        varies_(program.values(), false),
        uniform_number_(program.values(), kNone),
        once_number_(program.values(), kNone),
        row_(program.values(), kNone),
        last_use_(program.values(), 0) {
    block_.outputs = static_cast<std::uint32_t>(program.outputs.size());
    for (std::uint32_t i = 0; i < program.first_constant(); ++i) {
      varies_[i] = uniform.empty() || !uniform[i];
      if (varies_[i]) row_[i] = block_.varying_inputs++;
    }
    for (const FusedInstruction& instruction : instructions_) {
      varies_[instruction.result] = std::ranges::any_of(
          operands_of(instruction),
          [&](std::uint32_t value) { return static_cast<bool>(varies_[value]); });
    }
  }

  void build() {
    part_uniform();
    place_outputs();
    fill_rows();
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      for (const std::uint32_t value : operands_of(instructions_[i])) last_use_[value] = i;
    }
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (varies_[instructions_[i].result]) add(i);
    }
    add_copies();
  }

 private:
  /// The uniform instructions, unfused: they are few, and evaluated seldom.
  void part_uniform() {
    Program& once = block_.once;
    for (std::uint32_t i = 0; i < program_.first_constant(); ++i) {
      if (varies_[i]) continue;
      once_number_[i] = static_cast<std::uint32_t>(once.inputs.size());
      once.inputs.push_back(program_.inputs[i]);
    }
    once.constants = program_.constants;
    for (std::uint32_t i = 0; i < program_.constants.size(); ++i) {
      once_number_[program_.first_constant() + i] = once.first_constant() + i;
    }
    for (std::uint32_t i = 0; i < program_.instructions.size(); ++i) {
      Instruction instruction = program_.instructions[i];
      const auto count = static_cast<std::size_t>(operand_count(instruction.operation));
      const auto operands = std::span(instruction.operands).first(count);
      if (std::ranges::any_of(operands, [&](auto value) { return once_number_[value] == kNone; })) {
        continue;
      }
      once_number_[program_.first_result() + i] = once.values();
      for (std::uint32_t& operand : operands) operand = once_number_[operand];
      std::ranges::fill(std::span(instruction.operands).subspan(count), 0U);
      once.instructions.push_back(instruction);
    }
  }

  std::uint32_t uniform_number(std::uint32_t value) {
    std::uint32_t& number = uniform_number_[value];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(block_.once.outputs.size());
      block_.once.outputs.push_back(once_number_[value]);
    }
    return number;
  }

  /// A result that is an output is written to the output's row at once.
  void place_outputs() {
    for (std::uint32_t i = 0; i < block_.outputs; ++i) {
      const std::uint32_t value = program_.outputs[i];
      if (varies_[value] && row_[value] == kNone) row_[value] = block_.varying_inputs + i;
    }
  }

  void fill_rows() {
    for (const FusedInstruction& instruction : instructions_) {
      if (!varies_[instruction.result] || broadcasts(instruction)) continue;
      for (const std::uint32_t value : operands_of(instruction)) {
        if (varies_[value] || row_[value] != kNone) continue;
        row_[value] = block_.first_intermediate();
        block_.filled.push_back(uniform_number(value));
      }
    }
  }

  void add(std::size_t i) {
    const FusedInstruction& from = instructions_[i];
    BlockInstruction instruction{from.operation, from.fusion};
    for (std::size_t k = 0; k < operands_of(from).size(); ++k) {
      const std::uint32_t value = from.operands[k];
      const bool uniform = !varies_[value] && broadcasts(from);
      instruction.operands[k] = {uniform, uniform ? uniform_number(value) : row_[value]};
    }
    // A row read for the last time may hold the result: sweeps go element by element.
    for (const std::uint32_t value : operands_of(from)) free_after(i, value);
    if (row_[from.result] == kNone) row_[from.result] = take_row();
    instruction.result = row_[from.result];
    block_.instructions.push_back(instruction);
  }

  void free_after(std::size_t i, std::uint32_t value) {
    const std::uint32_t row = row_[value];
    if (last_use_[value] != i || row == kNone || row < block_.first_intermediate()) return;
    if (std::ranges::find(free_, row) == free_.end()) free_.push_back(row);
  }

  std::uint32_t take_row() {
    if (free_.empty()) return block_.first_intermediate() + block_.intermediate_rows++;
    const std::uint32_t row = free_.back();
    free_.pop_back();
    return row;
  }

  void add_copies() {
    for (std::uint32_t i = 0; i < block_.outputs; ++i) {
      const std::uint32_t value = program_.outputs[i];
      if (!varies_[value]) {
        block_.copies.push_back({{true, uniform_number(value)}, i});
      } else if (row_[value] != block_.varying_inputs + i) {
        block_.copies.push_back({{false, row_[value]}, i});
      }
    }
  }

  BlockProgram& block_;
  const Program& program_;
  std::vector<FusedInstruction> instructions_;
  std::vector<bool> varies_;
  std::vector<std::uint32_t> uniform_number_;  ///< output of `once`, per value
  std::vector<std::uint32_t> once_number_;     ///< value of `once`, per value
  std::vector<std::uint32_t> row_;
  std::vector<std::size_t> last_use_;
  std::vector<std::uint32_t> free_;
};

}  // namespace

BlockProgram::BlockProgram(const Program& program, Rounding rounding,
                           const std::vector<bool>& uniform) {
  if (!uniform.empty() && uniform.size() != program.inputs.size()) {
    throw RunError("a program of " + std::to_string(program.inputs.size()) +
                   " inputs was given flags for " + std::to_string(uniform.size()));
  }
  Builder(*this, program, rounding == Rounding::quick, uniform).build();
}

}  // namespace starpmc::simd
