#pragma once

#include <memory>
#include <optional>
#include <span>
#include <type_traits>

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

  Function<double> in_double[3];  ///< by PairsWith
  Function<float> in_single[3];   ///< where Potential::mm_as_pairs or grid_as_pairs
};

/// Energies of one molecule with many others, one way or another. One per thread.
/// @tparam T float or double
template <class T>
class MoleculePairs {
 public:
  MoleculePairs(const Potential& potential, PairsWith with) {
    if (potential.prepared != nullptr) function_ = potential.prepared->function<T>(with);
    if (function_ == nullptr) blocks_.emplace(pair_terms(potential, with));
  }
  void operator()(const MoleculePairArguments<T>& arguments) {
    if (blocks_) {
      (*blocks_)(arguments);
    } else {
      (*function_)(arguments);
    }
  }

 private:
  PreparedPotential::Function<T> function_;
  std::optional<simd::BlockMoleculePairs<T>> blocks_;
};

}  // namespace starpmc
