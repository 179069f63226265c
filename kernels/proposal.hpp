#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/window_plan.hpp"

namespace starpmc {

/// Everything of propose_moves but the arithmetic.
/// @tparam Mover  has draw(first_step, picks, thresholds) for consecutive steps, place(entries)
///                (sites of their poses) and move(candidates) (new poses from their parents', and
///                sites); entries and candidates are spans of int, no candidate of a span starts
///                from another of it
template <class Real, class Mover>
class Proposal {
 public:
  Proposal(const ProposeMovesArguments<Real>& arguments, const Mover& mover)
      : a_(arguments), mover_(mover) {}

  void run() {
    make_plan();
    std::ranges::fill(a_.outside, PairReal<Real>{0});
    std::fill_n(a_.outside.begin(), a_.topology.shape.molecules, PairReal<Real>{1});
    place_starts();
    for (const std::vector<int>& candidates : candidates_by_visit()) mover_.move(candidates);
  }

 private:
  void make_plan() {
    const auto most =
        static_cast<std::size_t>(std::min(static_cast<int>(a_.range.steps), a_.layout.steps));
    std::vector<int> picks(most);
    const auto thresholds =
        a_.entries.subspan(static_cast<std::size_t>(entries_threshold(a_.layout)), most);
    mover_.draw(a_.range.first_step, picks, thresholds);
    WindowPlanner(a_.layout, a_.topology.shape.molecules).plan(picks, a_.plan);
  }

  void place_starts() {
    const auto starts = static_cast<std::size_t>(a_.plan[PLAN_STARTS]);
    const auto stride = static_cast<std::size_t>(a_.layout.molecules);
    const auto capacity = static_cast<std::size_t>(entry_capacity(a_.layout));
    std::vector<int> entries(starts);
    for (std::size_t slot = 0; slot < starts; ++slot) {
      const auto molecule = static_cast<std::size_t>(
          a_.plan[static_cast<std::size_t>(plan_start_molecule(a_.layout)) + slot]);
      entries[slot] = start_entry(a_.layout, static_cast<int>(slot));
      a_.outside[molecule] = PairReal<Real>{0};
      for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
        a_.entries[field * capacity + static_cast<std::size_t>(entries[slot])] =
            a_.lattice[field * stride + molecule];
      }
    }
    mover_.place(entries);
  }

  /// A molecule's later candidates start from its earlier ones.
  std::array<std::vector<int>, STARPMC_MAXIMUM_VISITS> candidates_by_visit() const {
    std::array<std::vector<int>, STARPMC_MAXIMUM_VISITS> candidates;
    for (int candidate = 0; candidate < a_.plan[PLAN_CANDIDATES]; ++candidate) {
      const int step = a_.plan[plan_candidate_step(a_.layout) + candidate];
      const int visit = a_.plan[plan_step_visit(a_.layout) + step];
      candidates[static_cast<std::size_t>(visit)].push_back(candidate);
    }
    return candidates;
  }

  const ProposeMovesArguments<Real>& a_;
  const Mover& mover_;
};

/// What moves read and write of a window.
struct MoveContext {
  WindowLayout layout;
  Interaction interaction;
  StepRange range;
  Topology topology;
  std::span<const int> plan;
  std::span<double> entries;
  std::span<const double> chain_state;
  double maximum_translation;
  double maximum_half_turns;

  template <class Real>
  explicit MoveContext(const ProposeMovesArguments<Real>& a)
      : layout(a.layout),
        interaction(a.interaction),
        range(a.range),
        topology(a.topology),
        plan(a.plan),
        entries(a.entries),
        chain_state(a.chain_state),
        maximum_translation(a.chain_state[STATE_MAXIMUM_TRANSLATION]),
        maximum_half_turns(a.chain_state[STATE_MAXIMUM_HALF_TURNS]) {}

  double* field(int field) const {
    return &entries[static_cast<std::size_t>(field * entry_capacity(layout))];
  }
  /// Step of the window that a candidate belongs to.
  int step_of(int candidate) const { return plan[plan_candidate_step(layout) + candidate]; }
  int parent_of(int candidate) const { return plan[plan_candidate_parent(layout) + candidate]; }
  int type_of(int entry) const {
    const int molecule = entry < layout.candidates
                             ? plan[plan_step_molecule(layout) + step_of(entry)]
                             : plan[plan_start_molecule(layout) + entry - layout.candidates];
    return topology.type_of(molecule);
  }
};

}  // namespace starpmc
