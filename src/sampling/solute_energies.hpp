#pragma once

#include <memory>
#include <span>
#include <vector>

#include "config/settings.hpp"
#include "io/energy_terms.hpp"
#include "system/system.hpp"

namespace starpmc {

class ReferenceTables;

/// The energies of a solute that is a fixed reference (reference_tables.hpp) with MM molecules
/// anywhere: of configurations that were sampled with another solute, say. Tasks on whatever StarPU
/// chooses. Reference's tables and the nuclei's van der Waals energies are the same in every
/// precision: run.precision chooses the kernels, which a device that has sampled has built already.
class SoluteEnergies {
 public:
  virtual ~SoluteEnergies() = default;

  /// Those of the MM molecules with each other are 0. The reference's own energy is not among them.
  /// @param frames of each its MM molecules, as many and of the same types as the system's
  /// @return of each frame; the same bits whichever frames come together
  virtual std::vector<EnergyTerms> of(std::span<const std::vector<Molecule>> frames) = 0;
};

/// @param system   its solute is the reference's; of its molecules only types and number matter
/// @param settings cutoffs resolved
std::unique_ptr<SoluteEnergies> make_solute_energies(
    const System& system, const Settings& settings,
    std::shared_ptr<const ReferenceTables> reference);

}  // namespace starpmc
