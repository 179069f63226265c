#pragma once

#include <memory>
#include <optional>
#include <span>

#include "kernels/compiled/row.hpp"
#include "kernels/molecule_pairs.hpp"

namespace starpmc::compiled {

class MachineCode;

/// Terms of molecules as machine code. May be called by any number of threads at a time.
class MoleculeFunction {
 public:
  /// In the quick precision, as RowFunction.
  /// @return null where it cannot be compiled (RowFunction::compile)
  static std::shared_ptr<const MoleculeFunction> compile(
      std::span<const PairTerm> terms, InstructionSet set = best_instruction_set());

  void operator()(const MoleculePairArguments& arguments) const;

 private:
  using Function = void (*)(std::size_t count, std::size_t targets, std::size_t sources,
                            const double* target_sites, const double* source_sites,
                            const double* box, const std::uint32_t* present,
                            const double* coefficients, const double* squared_cutoffs,
                            double* coulomb, double* vdw);
  std::shared_ptr<const MachineCode> code_;
  Function one_image_ = nullptr;
  Function images_ = nullptr;
};

class CompiledMoleculePairs : public MoleculePairs {
 public:
  explicit CompiledMoleculePairs(std::shared_ptr<const MoleculeFunction> function)
      : function_(std::move(function)) {}
  void operator()(const MoleculePairArguments& arguments) override { (*function_)(arguments); }

 private:
  std::shared_ptr<const MoleculeFunction> function_;
};

}  // namespace starpmc::compiled
