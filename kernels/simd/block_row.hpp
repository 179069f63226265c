#pragma once

#include "kernels/compiled/row.hpp"
#include "kernels/simd/evaluate.hpp"

namespace starpmc::simd {

/// Rows of pairs by the block evaluator: what is compiled where there is LLVM, for where there is
/// none, and for every operation. One per thread; copies are independent.
template <class Real>
class BlockRow {
 public:
  /// @throws RunError where the shape does not fit the program
  BlockRow(const Program& program, const compiled::RowShape& shape);

  void operator()(const compiled::RowArguments<Real>& arguments);

 private:
  void add_target(const compiled::RowArguments<Real>& a, std::uint32_t target, std::size_t start,
                  std::size_t count);

  compiled::RowShape shape_;
  BlockEvaluator<Real> evaluator_;
  std::size_t uniform_inputs_;
  std::size_t outputs_;
  std::size_t distance_position_;  ///< of the squared distance among the varying inputs
  std::vector<Real> squared_distances_;
  std::vector<std::vector<Real>> results_;
  std::vector<const Real*> inputs_;
  std::vector<Real*> result_rows_;
};

}  // namespace starpmc::simd
