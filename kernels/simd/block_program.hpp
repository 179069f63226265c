#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/fused_program.hpp"
#include "kernels/program.hpp"

/// A Program as the SIMD evaluator runs it: each instruction sweeps over rows of values.
namespace starpmc::simd {

/// Whether an evaluator may round multiply-adds once and take estimates for a start, or must give
/// the bits of scalar::evaluate_exact.
enum class Rounding { quick, exact };

/// A row of values, or one value for all of a row.
struct BlockOperand {
  bool uniform = false;
  std::uint32_t index = 0;
};

struct BlockInstruction {
  Operation operation;
  Fusion fusion = Fusion::none;
  std::array<BlockOperand, 3> operands{};
  std::uint32_t result = 0;  ///< row
};

/// Rows: the varying inputs, the outputs, the rows that uniform values fill, then the rows of
/// intermediate values, which are used again once their value is no longer needed.
struct BlockProgram {
  /// @param uniform per input: has one value for all of a row; empty: none
  /// @throws RunError where `uniform` has another size than the inputs
  BlockProgram(const Program& program, Rounding rounding, const std::vector<bool>& uniform);

  /// What depends on uniform inputs and constants only: evaluated once per set of them. Its inputs
  /// are the uniform ones in their order; its outputs are the uniform values.
  Program once;
  std::vector<BlockInstruction> instructions;
  std::uint32_t varying_inputs = 0;
  std::uint32_t outputs = 0;
  std::vector<std::uint32_t> filled;  ///< uniform value of each filled row
  std::uint32_t intermediate_rows = 0;
  /// Outputs that no instruction writes, copied from an input, another output or a uniform value.
  struct Copy {
    BlockOperand from;
    std::uint32_t output;
  };
  std::vector<Copy> copies;

  std::uint32_t first_filled() const { return varying_inputs + outputs; }
  std::uint32_t first_intermediate() const {
    return first_filled() + static_cast<std::uint32_t>(filled.size());
  }
  std::uint32_t rows() const { return first_intermediate() + intermediate_rows; }
};

}  // namespace starpmc::simd
