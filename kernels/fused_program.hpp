#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/program.hpp"

namespace starpmc {

/// An instruction, or a product with the sum that alone uses it.
enum class Fusion : std::uint8_t {
  none,
  multiply_add,       ///< a b + c
  multiply_subtract,  ///< a b - c
  subtract_product    ///< c - a b
};

struct FusedInstruction {
  Operation operation;  ///< where fusion is none
  Fusion fusion = Fusion::none;
  std::array<std::uint32_t, 3> operands{};
  std::uint32_t result = 0;  ///< value number, as in the program

  int operands_read() const { return fusion == Fusion::none ? operand_count(operation) : 3; }
};

/// The instructions that the outputs depend on, in order.
/// @param fuse whether multiply-adds may be rounded once: quick precision only
std::vector<FusedInstruction> fused_instructions(const Program& program, bool fuse);

}  // namespace starpmc
