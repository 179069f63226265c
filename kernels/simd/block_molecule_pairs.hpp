#pragma once

#include <vector>

#include "kernels/molecule_pairs.hpp"
#include "kernels/simd/evaluate.hpp"

namespace starpmc::simd {

/// Each pair of sites in turn, its terms by block evaluators over all molecules: what is compiled
/// where there is LLVM, for where there is none, and for every operation. One per thread.
template <class T>
class BlockMoleculePairs {
 public:
  explicit BlockMoleculePairs(const std::vector<PairTerm>& terms);
  void operator()(const MoleculePairArguments<T>& arguments);

 private:
  struct Term {
    BlockEvaluator<T> evaluator;
    MoleculeEnergy energy;
    std::size_t coefficients;
  };
  /// Adds pairs [first, last).
  void add_pairs(const MoleculePairArguments<T>& a, std::size_t first, std::size_t last);
  void add_pair(const MoleculePairArguments<T>& a, std::uint32_t present, const T* coefficients);

  std::vector<Term> terms_;
  std::size_t coefficients_ = 0;  ///< of a pair
  std::vector<T> squared_;        ///< distances
  std::vector<T> values_;
  std::vector<T> part_[2];  ///< sums of a part
};

}  // namespace starpmc::simd
