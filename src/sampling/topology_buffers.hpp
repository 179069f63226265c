#pragma once

#include <memory>
#include <vector>

#include "config/settings.hpp"
#include "kernels/arguments.hpp"
#include "system/system.hpp"

namespace starpmc {

/// A system's constants in the flat form that kernels read (kernels/common/layout.h).
struct TopologyBuffers {
  TopologyShape shape{};
  Interaction interaction{};
  std::vector<double> reals;
  std::vector<int> integers;
  std::vector<double> solute;  ///< SOLUTE_FIELDS arrays
  int nuclei = 0;
  std::shared_ptr<const Potential> functions;  ///< of the user's; null: none

  Topology view() const { return {shape, reals, integers}; }
};

/// @param settings cutoffs resolved
TopologyBuffers make_topology_buffers(const System& system, const Settings& settings);

/// The initial lattice: POSE_FIELDS arrays of padded_molecules values, centres inside the box.
std::vector<double> make_lattice(const System& system, const TopologyShape& shape);

}  // namespace starpmc
