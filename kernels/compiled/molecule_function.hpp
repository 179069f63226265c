#pragma once

#include <memory>
#include <optional>
#include <span>

#include "kernels/compiled/row.hpp"
#include "kernels/molecule_pairs.hpp"

namespace starpmc::compiled {

class MachineCode;

/// Terms of molecules as machine code. May be called by any number of threads at a time.
/// @tparam T float or double
template <class T>
class MoleculeFunction {
 public:
  /// In the quick precision, as RowFunction.
  /// @return null where it cannot be compiled (RowFunction::compile)
  static std::shared_ptr<const MoleculeFunction<T>> compile(
      std::span<const PairTerm> terms, InstructionSet set = best_instruction_set());

  void operator()(const MoleculePairArguments<T>& arguments) const;

 private:
  using Function = void (*)(std::size_t count, std::size_t stride, std::size_t targets,
                            std::size_t sources, const void* target_sites, const void* source_sites,
                            const T* box, const std::uint32_t* present, const T* coefficients,
                            const T* squared_cutoffs, T* coulomb, T* vdw);
  std::shared_ptr<const MachineCode> code_;
  Function one_image_ = nullptr;
  Function images_ = nullptr;
  Function fixed_point_ = nullptr;
};

template <class T>
class CompiledMoleculePairs : public MoleculePairs<T> {
 public:
  explicit CompiledMoleculePairs(std::shared_ptr<const MoleculeFunction<T>> function)
      : function_(std::move(function)) {}
  void operator()(const MoleculePairArguments<T>& arguments) override { (*function_)(arguments); }

 private:
  std::shared_ptr<const MoleculeFunction<T>> function_;
};

}  // namespace starpmc::compiled
