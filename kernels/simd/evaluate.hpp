#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/simd/block_program.hpp"

/// Programs evaluated for many sets of inputs at a time.
namespace starpmc::simd {

/// Runs each instruction over a block of values that stays in the first-level cache. Holds its own
/// memory: one evaluator per thread; copies are independent.
template <class Real>
class BlockEvaluator {
 public:
  /// @param uniform per input: one value for all sets, given by set_uniform; empty: none
  /// @throws RunError where `uniform` does not fit the program, or exact rounding is not of fp64
  explicit BlockEvaluator(const Program& program, Rounding rounding = Rounding::quick,
                          const std::vector<bool>& uniform = {});

  /// Values of the uniform inputs, in their order. Without any, this need not be called.
  void set_uniform(std::span<const Real> values);

  /// @param inputs  the varying inputs, in their order: `count` values each
  /// @param outputs one array of `count` values per output; none may overlap another or an input
  void operator()(std::span<const Real* const> inputs, std::size_t count,
                  std::span<Real* const> outputs);

  const BlockProgram& program() const { return program_; }
  std::size_t block_size() const { return block_size_; }

 private:
  void run(std::size_t count);

  BlockProgram program_;
  bool exact_;
  std::size_t block_size_;      ///< values of a row
  std::vector<Real> uniforms_;  ///< outputs of program_.once
  std::vector<Real> memory_;  ///< a row for each of the program; inputs and outputs use theirs only
                              ///< for a last, partial block
  std::vector<const Real*> read_;
  std::vector<Real*> write_;
};

/// What the loops of every instruction set are handed.
template <class Real>
struct BlockArguments {
  std::span<const BlockInstruction> instructions;
  const Real* const* read;  ///< per row
  Real* const* write;
  const Real* uniforms;
  std::size_t count;  ///< values of a row: a multiple of kBlockGrain
};
/// A whole number of vectors of every instruction set.
inline constexpr std::size_t kBlockGrain = 32;

}  // namespace starpmc::simd
