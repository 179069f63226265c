#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codelets/operations.hpp"
#include "codelets/window.hpp"
#include "sampling/task_sizes.hpp"

namespace starpmc {

/// What windows of a system have to do, by their length.
template <class Real>
struct WindowLoads {
  double molecules;
  double sites;            ///< most of a molecule
  double points = 0;       ///< of the density grid; 0: none
  bool reference = false;  ///< a fixed one, in the place of the density
  int components = 0;      ///< of its response

  double blocks() const { return std::ceil(points / STARPMC_BLOCK_POINTS); }
  /// Some steps revisit a molecule and have two.
  static double candidates(std::uint32_t steps) { return 1.1 * steps; }
  double grid_pairs(std::uint32_t steps) const { return points * candidates(steps) * sites; }
  /// In pair energies: 64 nodes of a lattice take as long as some 16 for each component.
  double reference_pairs(std::uint32_t steps) const {
    return reference ? candidates(steps) * sites * (16 + 16 * components) : 0;
  }
  /// Pair energies of a window's entries with the lattice.
  double mm_pairs(std::uint32_t steps) const {
    return 2 * candidates(steps) * sites * sites * molecules;
  }

  Workload grid(std::uint32_t steps) const {
    return {codelets::codelet_name<Real>("qmmm_coulomb_grid"),
            codelets::Work::qmmm_coulomb_grid(candidates(steps), blocks()), grid_pairs(steps)};
  }
  Workload mm(std::uint32_t steps) const {
    return {codelets::codelet_name<Real>("mm_pair"),
            codelets::Work::mm_pair(candidates(steps), molecules), mm_pairs(steps)};
  }
  /// One whole window.
  Workload whole(std::uint32_t steps) const {
    return {codelets::codelet_name<Real>("sample_windows"),
            codelets::Work::sample_windows(
                candidates(steps), blocks(), molecules,
                reference ? codelets::Work::reference_points(components) : 0),
            grid_pairs(steps) + mm_pairs(steps) + reference_pairs(steps)};
  }
  /// The operations that a window's time goes to.
  std::vector<Workload> operations(std::uint32_t steps) const {
    using codelets::Work;
    const double entries = candidates(steps) + steps;
    std::vector<Workload> all{
        mm(steps),
        {codelets::codelet_name<Real>("propose_moves"), Work::propose_moves(candidates(steps)), 0},
        {codelets::codelet_name<Real>("mm_pair_table"), Work::mm_pair_table(entries), 0},
        {codelets::codelet_name<Real>("metropolis_decide"),
         Work::metropolis_decide(candidates(steps)), 0}};
    if (points > 0) all.push_back(grid(steps));
    if (reference) {
      all.push_back({codelets::codelet_name<Real>("reference_field"),
                     Work::reference_field(candidates(steps), components), reference_pairs(steps)});
    }
    return all;
  }
};

/// automatic_window() of a system.
template <class Real>
std::uint32_t automatic_window(const WindowLoads<Real>& loads, bool has_solute) {
  return automatic_window(static_cast<std::size_t>(loads.molecules), has_solute,
                          [&loads](std::uint32_t steps) { return loads.operations(steps); });
}

}  // namespace starpmc
