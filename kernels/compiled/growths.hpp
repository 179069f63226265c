#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kernels/fused_program.hpp"
#include "kernels/molecule_pairs.hpp"

namespace starpmc::compiled {

/// A term of the pairs, ready to be written.
struct WrittenTerm {
  const PairTerm& term;
  std::vector<FusedInstruction> instructions;
  std::size_t first_coefficient;
};

/// Products (1 + slope r^2)/r of a constant slope, which shifted-force Coulomb functions have.
class Growths {
 public:
  explicit Growths(const WrittenTerm& term) {
    const Program& program = term.term.program;
    const auto is_constant = [&](std::uint32_t value) {
      return value >= program.first_constant() && value < program.first_result();
    };
    for (const FusedInstruction& instruction : term.instructions) {
      const auto [a, b, c] = instruction.operands;
      if (instruction.fusion == Fusion::multiply_add && is_constant(c) &&
          program.constants[c - program.first_constant()] == 1) {
        if (a == 0 && is_constant(b)) slopes_[instruction.result] = b;
        if (b == 0 && is_constant(a)) slopes_[instruction.result] = a;
      } else if (instruction.fusion == Fusion::none && a == 0 &&
                 instruction.operation == Operation::reciprocal_square_root) {
        inverse_ = instruction.result;
      }
    }
  }

  /// The slope where an instruction multiplies such a growth by 1/r.
  std::optional<std::uint32_t> slope_of(const FusedInstruction& instruction) const {
    const bool product =
        instruction.fusion != Fusion::none || instruction.operation == Operation::multiply;
    const auto [a, b, _] = instruction.operands;
    if (!product || !inverse_ || (a != *inverse_ && b != *inverse_)) return std::nullopt;
    const auto found = slopes_.find(a == *inverse_ ? b : a);
    return found == slopes_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::optional<std::uint32_t> inverse_;           ///< the value 1/r
  std::map<std::uint32_t, std::uint32_t> slopes_;  ///< values 1 + slope r^2 and their slopes
};

}  // namespace starpmc::compiled
