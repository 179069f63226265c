#pragma once

#include <vector>

#include "codelets/operations.hpp"
#include "io/energy_terms.hpp"
#include "sampling/chain_state.hpp"

namespace starpmc {

enum class WithDensity { no, yes };

/// A chain's molecular virial as tasks. What it is: kernels/arguments.hpp, PairVirialArguments.
template <class Real>
class PairVirial {
 public:
  /// @param settings cutoffs resolved
  PairVirial(const System& system, const Settings& settings, const TopologyBuffers& topology);

  /// Of the positions after the tasks submitted so far; one handle per task.
  /// @param data    with its exact density, where it has one
  /// @param density no: the terms of the density grid, which take longest, are left out
  std::vector<DataHandle> submit(const ChainData<Real>& data,
                                 WithDensity density = WithDensity::yes) const;
  /// The sum of what submit() gave, kJ/mol; waits.
  static VirialTerms collect(const std::vector<DataHandle>& sums);

 private:
  PairDerivatives functions_;
  codelets::PairVirialConstants constants_;
};

}  // namespace starpmc
