#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/layout.h"

namespace starpmc {

/// Molecule picked at a step that moves any: a pure function of (seed, chain, step).
int picked_molecule(std::uint64_t seed, std::uint32_t chain, std::uint64_t step, int molecules);

/// Plans windows: which steps are evaluated together, and which candidate positions they need
/// (src/sampling/README.md, "Steps"). A revisited molecule has one candidate per accept/reject
/// history. The plan depends on the picks only, so the host knows every window's extent ahead of
/// its energies.
class WindowPlanner {
 public:
  WindowPlanner(WindowLayout layout, int molecules);

  /// From here on the steps move these in turn, step s the (s % count)th; none: any, as picked.
  void move_in_turn(std::span<const int> molecules);

  /// Writes the plan of the window that starts at range.first_step and has at most range.steps
  /// steps; it ends early at a molecule's fourth visit or when the candidates are used up.
  /// @param plan plan_size(layout) integers
  /// @return the window's number of steps (at least 1)
  int plan(const StepRange& range, std::span<int> plan);
  /// The same for given picks, one per step.
  int plan(std::span<const int> picks, std::span<int> plan);

 private:
  WindowLayout layout_;
  int molecules_;
  std::vector<int> in_turn_;           ///< empty: any is picked
  std::vector<int> slot_of_molecule_;  ///< -1: not in the window; reset after each plan
};

}  // namespace starpmc
