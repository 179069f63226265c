#include "kernels/fused_program.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace starpmc {
namespace {

/// How often each value is read by instructions that matter, or is an output.
std::vector<std::uint32_t> count_uses(const Program& program) {
  std::vector<std::uint32_t> uses(program.values(), 0);
  for (const std::uint32_t output : program.outputs) ++uses[output];
  for (std::size_t i = program.instructions.size(); i-- > 0;) {
    if (uses[program.first_result() + i] == 0) continue;
    const Instruction& instruction = program.instructions[i];
    const auto count = static_cast<std::size_t>(operand_count(instruction.operation));
    for (const std::uint32_t operand : std::span(instruction.operands).first(count)) {
      ++uses[operand];
    }
  }
  return uses;
}

class Fuser {
 public:
  explicit Fuser(const Program& program) : program_(program), uses_(count_uses(program)) {}

  std::vector<FusedInstruction> instructions(bool fuse) const {
    std::vector<FusedInstruction> result;
    std::vector<bool> absorbed(program_.values(), false);
    for (std::size_t i = program_.instructions.size(); i-- > 0;) {
      const auto value = program_.first_result() + static_cast<std::uint32_t>(i);
      if (uses_[value] == 0 || absorbed[value]) continue;
      const Instruction& instruction = program_.instructions[i];
      std::optional<FusedInstruction> fused;
      if (fuse) fused = fused_with_product(instruction, absorbed);
      result.push_back(fused.value_or(
          FusedInstruction{instruction.operation, Fusion::none, instruction.operands}));
      result.back().result = value;
    }
    std::ranges::reverse(result);
    return result;
  }

 private:
  bool lone_product(std::uint32_t value) const {
    return value >= program_.first_result() && uses_[value] == 1 && product(value);
  }
  bool product(std::uint32_t value) const { return at(value).operation == Operation::multiply; }
  const Instruction& at(std::uint32_t value) const {
    return program_.instructions[value - program_.first_result()];
  }

  std::optional<FusedInstruction> fused_with_product(const Instruction& sum,
                                                     std::vector<bool>& absorbed) const {
    const bool add = sum.operation == Operation::add;
    if (!add && sum.operation != Operation::subtract) return std::nullopt;
    for (const std::size_t side : {1U, 0U}) {
      const std::uint32_t value = sum.operands[side];
      if (!lone_product(value)) continue;
      absorbed[value] = true;
      const Instruction& factors = at(value);
      const Fusion difference = side == 0 ? Fusion::multiply_subtract : Fusion::subtract_product;
      return FusedInstruction{sum.operation,
                              add ? Fusion::multiply_add : difference,
                              {factors.operands[0], factors.operands[1], sum.operands[1 - side]}};
    }
    return std::nullopt;
  }

  const Program& program_;
  std::vector<std::uint32_t> uses_;
};

}  // namespace

std::vector<FusedInstruction> fused_instructions(const Program& program, bool fuse) {
  return Fuser(program).instructions(fuse);
}

}  // namespace starpmc
