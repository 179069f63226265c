#pragma once

#include <memory>
#include <vector>

#include "codelets/operations.hpp"
#include "io/energy_terms.hpp"
#include "sampling/chain_state.hpp"

namespace starpmc {

enum class WithDensity { no, yes };

/// A virial on its way.
struct PendingVirial {
  std::vector<DataHandle> sums{};              ///< one per task
  std::unique_ptr<HostCopy> lattice{};         ///< for the terms of a fixed reference; null: none
  std::unique_ptr<HostCopy> response_total{};  ///< the same, where the solute responds
};

/// A chain's molecular virial: that of pairs as tasks (kernels/arguments.hpp, PairVirialArguments),
/// that of a fixed reference on the host (reference_virial.hpp).
template <class Real>
class PairVirial {
 public:
  /// @param settings cutoffs resolved
  PairVirial(const System& system, const Settings& settings, const TopologyBuffers& topology);

  /// Of the positions after the tasks submitted so far.
  /// @param data    with its exact density, where it has one
  /// @param density no: the terms of the density grid or of a fixed reference, which take longest,
  ///                are left out
  PendingVirial submit(const ChainData<Real>& data, WithDensity density = WithDensity::yes) const;
  /// The sum of what submit() gave, kJ/mol; waits.
  /// @param data with the reference that it had then
  VirialTerms collect(const ChainData<Real>& data, const PendingVirial& pending) const;

 private:
  PairDerivatives functions_;
  codelets::PairVirialConstants constants_;
};

}  // namespace starpmc
