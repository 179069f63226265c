#pragma once

#include <vector>

#include "kernels/molecule_pairs.hpp"
#include "kernels/simd/evaluate.hpp"

namespace starpmc::simd {

/// Each pair of sites in turn, its terms by block evaluators over all molecules.
class BlockMoleculePairs : public MoleculePairs {
 public:
  explicit BlockMoleculePairs(const std::vector<PairTerm>& terms);
  void operator()(const MoleculePairArguments& arguments) override;

 private:
  struct Term {
    BlockEvaluator<double> evaluator;
    MoleculeEnergy energy;
    std::size_t coefficients;
  };
  void add_pair(const MoleculePairArguments& a, std::uint32_t present, const double* coefficients);

  std::vector<Term> terms_;
  std::size_t coefficients_ = 0;  ///< of a pair
  std::vector<double> squared_;
  std::vector<double> values_;
};

}  // namespace starpmc::simd
