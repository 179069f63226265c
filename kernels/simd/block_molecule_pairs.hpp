#pragma once

#include <vector>

#include "kernels/molecule_pairs.hpp"
#include "kernels/simd/evaluate.hpp"

namespace starpmc::simd {

/// Each pair of sites in turn, its terms by block evaluators over all molecules.
template <class T>
class BlockMoleculePairs : public MoleculePairs<T> {
 public:
  explicit BlockMoleculePairs(const std::vector<PairTerm>& terms);
  void operator()(const MoleculePairArguments<T>& arguments) override;

 private:
  struct Term {
    BlockEvaluator<T> evaluator;
    MoleculeEnergy energy;
    std::size_t coefficients;
  };
  void add_pair(const MoleculePairArguments<T>& a, std::uint32_t present, const T* coefficients);

  std::vector<Term> terms_;
  std::size_t coefficients_ = 0;  ///< of a pair
  std::vector<T> squared_;
  std::vector<T> values_;
};

}  // namespace starpmc::simd
