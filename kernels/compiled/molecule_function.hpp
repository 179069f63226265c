#pragma once

#include <memory>
#include <span>

#include "kernels/compiled/machine_code.hpp"
#include "kernels/compiled/molecule_text.hpp"

namespace starpmc::compiled {

/// Terms of molecules as machine code. May be called by any number of threads at a time.
/// @tparam T float or double
template <class T>
class MoleculeFunction {
 public:
  /// In the quick precision: multiply-adds are fused, 1/r starts from the processor's estimate.
  /// @param places what there will be; a call for others is not allowed
  /// @param set    what the processor must have
  /// @return null where this build cannot compile, the set is portable (the block evaluator is as
  ///         good), or a program has sines, cosines or tangents
  static std::shared_ptr<const MoleculeFunction<T>> compile(
      std::span<const PairTerm> terms, std::span<const Places> places,
      InstructionSet set = best_instruction_set());

  void operator()(const MoleculePairArguments<T>& arguments) const;

  /// Whether MoleculePairArguments::listed may be given.
  bool takes(SitesInLists sites, bool apart, bool images) const {
    return function(places_of(sites, apart, images)) != nullptr;
  }

 private:
  using Function = void (*)(const MoleculePairArguments<T>* arguments, const void* target_sites,
                            const void* source_sites, const T* box, const std::uint64_t* parts,
                            std::size_t sources);
  Function function(Places places) const { return functions_[static_cast<std::size_t>(places)]; }
  /// Not everything is compiled for every use.
  Places places_of(SitesInLists sites, bool apart, bool images) const;

  std::shared_ptr<const MachineCode> code_;
  Function functions_[kPlaces] = {};  ///< by Places
};

}  // namespace starpmc::compiled
