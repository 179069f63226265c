#pragma once

#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/opencl/host/operations.hpp"

namespace starpmc {

/// Which steps a window evaluates together, and how many pair energies that takes.
struct PlannedWindow {
  WindowLayout layout;
  opencl::WindowExtent extent;
  StepRange range;
  std::vector<int> plan;

  /// Sites of the candidates that meet the grid.
  double charged_sites(const Topology& topology) const;
  /// Pairs of sites of entries and of molecules that take no part in the window.
  double outside_pairs(const TopologyShape& topology) const;
  /// Pairs of sites of entries of different molecules.
  double table_pairs(const TopologyShape& topology) const;
};

/// Sites of all molecules that have a charge.
double charged_sites_of_lattice(const Topology& topology);

/// Successive windows of a chain from its first step on.
/// @param steps of a window
std::vector<PlannedWindow> plan_windows(const TopologyShape& topology, std::uint64_t seed,
                                        int steps, std::size_t windows);

/// Windows a chain's segment is cut into.
/// @param range of the segment; its `steps` is not used
std::uint64_t count_windows(const TopologyShape& topology, const StepRange& range,
                            std::uint64_t steps, int window_steps);

}  // namespace starpmc
