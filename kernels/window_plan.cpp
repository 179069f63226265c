#include "kernels/window_plan.hpp"

#include <algorithm>

#include "kernels/scalar/moves.hpp"

namespace starpmc {

int picked_molecule(std::uint64_t seed, std::uint32_t chain, std::uint64_t step, int molecules) {
  double pick = 0;
  double acceptance = 0;
  scalar::draw_pair(step, STREAM_PICK, chain, seed, &pick, &acceptance);
  return scalar::molecule_from_uniform(pick, molecules);
}

WindowPlanner::WindowPlanner(WindowLayout layout, int molecules)
    : layout_(layout),
      molecules_(molecules),
      slot_of_molecule_(static_cast<std::size_t>(molecules), -1) {}

void WindowPlanner::move_in_turn(std::span<const int> molecules) {
  in_turn_.assign(molecules.begin(), molecules.end());
}

int WindowPlanner::plan(const StepRange& range, std::span<int> plan) {
  std::vector<int> picks(
      static_cast<std::size_t>(std::min(static_cast<int>(range.steps), layout_.steps)));
  for (std::size_t i = 0; i < picks.size(); ++i) {
    const std::uint64_t step = range.first_step + i;
    picks[i] = in_turn_.empty() ? picked_molecule(range.seed, range.chain, step, molecules_)
                                : in_turn_[step % in_turn_.size()];
  }
  return this->plan(picks, plan);
}

int WindowPlanner::plan(std::span<const int> picks, std::span<int> plan) {
  int* const step_molecule = &plan[plan_step_molecule(layout_)];
  int* const step_slot = &plan[plan_step_slot(layout_)];
  int* const step_first = &plan[plan_step_first(layout_)];
  int* const step_visit = &plan[plan_step_visit(layout_)];
  int* const start_molecule = &plan[plan_start_molecule(layout_)];
  int* const candidate_step = &plan[plan_candidate_step(layout_)];
  int* const candidate_parent = &plan[plan_candidate_parent(layout_)];

  // Entries a molecule may occupy after its visits so far: its start, then per visit one candidate
  // for each entry it could occupy before. At most 1 + 1 + 2 before the third visit.
  struct Reachable {
    int entries[1 << (STARPMC_MAXIMUM_VISITS - 1)];
    int count;
    int visits;
  };
  std::vector<Reachable> reachable;
  reachable.reserve(static_cast<std::size_t>(layout_.steps));

  int steps = 0;
  int candidates = 0;
  for (; steps < static_cast<int>(picks.size()); ++steps) {
    const int molecule = picks[static_cast<std::size_t>(steps)];
    int& slot = slot_of_molecule_[static_cast<std::size_t>(molecule)];
    const bool first_visit = slot < 0;
    const int histories = first_visit ? 1 : reachable[static_cast<std::size_t>(slot)].count;
    const int visits = first_visit ? 0 : reachable[static_cast<std::size_t>(slot)].visits;
    if (visits == STARPMC_MAXIMUM_VISITS || candidates + histories > layout_.candidates) break;
    if (first_visit) {
      slot = static_cast<int>(reachable.size());
      start_molecule[slot] = molecule;
      reachable.push_back({{start_entry(layout_, slot), 0, 0, 0}, 1, 0});
    }
    Reachable& from = reachable[static_cast<std::size_t>(slot)];
    step_molecule[steps] = molecule;
    step_slot[steps] = slot;
    step_first[steps] = candidates;
    step_visit[steps] = visits;
    for (int history = 0; history < histories; ++history) {
      candidate_step[candidates] = steps;
      candidate_parent[candidates] = from.entries[history];
      if (visits + 1 < STARPMC_MAXIMUM_VISITS) from.entries[from.count++] = candidates;
      ++candidates;
    }
    ++from.visits;
  }
  for (std::size_t slot = 0; slot < reachable.size(); ++slot) {
    slot_of_molecule_[static_cast<std::size_t>(start_molecule[slot])] = -1;
  }
  plan[PLAN_STEPS] = steps;
  plan[PLAN_CANDIDATES] = candidates;
  plan[PLAN_STARTS] = static_cast<int>(reachable.size());
  plan[3] = 0;
  return steps;
}

}  // namespace starpmc
