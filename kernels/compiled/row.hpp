#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/program.hpp"

/// Programs compiled to machine code at run time, through LLVM, for the processor they run on.
namespace starpmc::compiled {

/// What a row of pairs gives.
enum class RowResult {
  totals,     ///< the sum over the sources of each output, in fp64
  per_source  ///< each output for each source
};

/// Pairs of a few targets with many sources, which stream through the lanes.
struct RowShape {
  std::uint32_t squared_distance = 0;  ///< the input that is computed from the coordinates
  std::vector<bool> uniform{};         ///< per input: one value for the row; empty: none
  std::uint32_t targets = 1;           ///< 1 to 4, held in registers
  RowResult result = RowResult::totals;
  double least_squared_distance = 0;  ///< lesser ones count as this
  /// Whether there may be pairs beyond the cutoffs or nearer than that; else neither is looked for.
  bool cut = true;
};

/// @throws RunError where the shape does not fit the program
void check_shape(const Program& program, const RowShape& shape);

template <class Real>
struct RowArguments {
  const Real* source[3] = {};  ///< x, y, z: `count` values each
  std::size_t count = 0;
  const Real* targets = nullptr;         ///< x, y, z of each target
  const Real* const* varying = nullptr;  ///< the other varying inputs, in their order
  const Real* uniform = nullptr;         ///< the uniform inputs, in their order
  /// Per output: where the squared distance is not less than this, the output counts as 0. Not
  /// read where the shape is not cut.
  const Real* squared_cutoffs = nullptr;
  double* totals = nullptr;  ///< added to; of target t and output o: [t * outputs + o]
  /// Added to, `count` values each, summed over the targets; one per output.
  Real* const* per_source = nullptr;
};

/// What a vector register holds and how 1/sqrt is estimated.
enum class InstructionSet {
  portable,  ///< 16 bytes, no estimate
  avx2,      ///< 32 bytes, 12 bits
  avx512     ///< 64 bytes, 14 bits
};

/// The best that this processor has; portable also where this build cannot compile at all.
InstructionSet best_instruction_set();

/// A program as machine code; copies share it. May be called by any number of threads at a time.
template <class Real>
class RowFunction {
 public:
  /// In the quick precision: multiply-adds are fused, 1/r starts from the processor's estimate.
  /// @param set what the processor must have
  /// @return nothing where this build cannot compile, the set is portable (the block evaluator is
  ///         as good), or the program has sines, cosines or tangents
  /// @throws RunError where the shape does not fit the program
  static std::optional<RowFunction> compile(const Program& program, const RowShape& shape,
                                            InstructionSet set = best_instruction_set());

  void operator()(const RowArguments<Real>& arguments) const;

 private:
  struct Code;
  explicit RowFunction(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;
};

}  // namespace starpmc::compiled
