#include "app/progress_board.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace starpmc {

ProgressState ProgressBoard::merged(const std::vector<ProgressState>& states) {
  ProgressState all;
  double accepted = 0;
  for (const ProgressState& state : states) {
    all.step += state.step;
    all.total_steps += state.total_steps;
    accepted += state.acceptance * static_cast<double>(state.step);
    all.qm_update += state.qm_update;
    all.qm_updates += state.qm_updates;
  }
  if (all.step > 0) all.acceptance = accepted / static_cast<double>(all.step);
  if (states.empty()) return all;
  all.phase = states.front().phase;
  all.unit = states.front().unit;
  const auto alike = std::ranges::count(states, all.phase, &ProgressState::phase);
  if (static_cast<std::size_t>(alike) < states.size()) {
    all.phase += fmt::format(" ({} of {})", alike, states.size());
  }
  return all;
}

void ProgressBoard::update(std::size_t chain, const ProgressState& state) {
  const std::lock_guard lock(mutex_);
  if (states_.size() <= chain) states_.resize(chain + 1);
  states_[chain] = state;
  progress_.update(merged(states_));
}

std::vector<ProgressState> ProgressBoard::states() {
  const std::lock_guard lock(mutex_);
  return states_;
}

void ProgressBoard::finish() {
  const std::lock_guard lock(mutex_);
  progress_.finish();
}

}  // namespace starpmc
