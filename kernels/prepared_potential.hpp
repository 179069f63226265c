#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "kernels/compiled/molecule_function.hpp"
#include "kernels/potential.hpp"
#include "kernels/simd/block_molecule_pairs.hpp"

/// What the SIMD kernels evaluate the user's functions with: machine code where prepare() has made
/// it, else the block evaluator.
namespace starpmc {

/// The user's functions as machine code, as far as it can be made.
struct PreparedPotential {
  template <class T>
  using Function = std::shared_ptr<const compiled::MoleculeFunction<T>>;
  /// One instruction set's.
  PreparedPotential(const Potential& potential, compiled::InstructionSet set);

  template <class T>
  const Function<T>& function(PairsWith with) const {
    const auto index = static_cast<std::size_t>(with);
    if constexpr (std::is_same_v<T, float>) {
      return in_single[index];
    } else {
      return in_double[index];
    }
  }

  std::vector<PairTerm> terms[3];  ///< by PairsWith; empty: the user's functions say nothing of it
  Function<double> in_double[3];
  Function<float> in_single[3];  ///< where Potential::mm_as_pairs or grid_as_pairs
};

/// Energies of one molecule with many others, one way or another. One per thread.
/// @tparam T float or double
template <class T>
class MoleculePairs {
 public:
  MoleculePairs(const Potential& potential, PairsWith with) : prepared_(potential.prepared) {
    if (prepared_ == nullptr) own_terms_ = pair_terms(potential, with);
    const auto index = static_cast<std::size_t>(with);
    terms_ = prepared_ == nullptr ? &own_terms_ : &prepared_->terms[index];
    if (prepared_ != nullptr) function_ = prepared_->function<T>(with).get();
    if (function_ == nullptr) blocks_.emplace(*terms_);
  }
  MoleculePairs(const MoleculePairs&) = delete;
  MoleculePairs& operator=(const MoleculePairs&) = delete;

  const std::vector<PairTerm>& terms() const { return *terms_; }
  /// Whether MoleculePairArguments::listed may be given.
  bool takes(SitesInLists sites, bool apart, bool images) const {
    return function_ != nullptr && function_->takes(sites, apart, images);
  }
  void operator()(const MoleculePairArguments<T>& arguments) {
    if (blocks_) {
      (*blocks_)(arguments);
    } else {
      (*function_)(arguments);
    }
  }

 private:
  std::shared_ptr<const PreparedPotential> prepared_;
  std::vector<PairTerm> own_terms_;
  const std::vector<PairTerm>* terms_;
  const compiled::MoleculeFunction<T>* function_ = nullptr;
  std::optional<simd::BlockMoleculePairs<T>> blocks_;
};

}  // namespace starpmc
