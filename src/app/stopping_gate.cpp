#include "app/stopping_gate.hpp"

#include <algorithm>
#include <chrono>

namespace starpmc {

EnsembleEstimate ensemble_of(const std::vector<ChainStatistics>& chains) {
  std::vector<AverageEstimate> averages;
  std::vector<SeriesMoments> halves;
  for (const ChainStatistics& chain : chains) {
    averages.push_back(chain.estimate());
    const auto both = chain.halves();
    halves.insert(halves.end(), both.begin(), both.end());
  }
  return ensemble_average(averages, halves);
}

std::vector<Equilibration> equilibrations_of(const std::vector<ChainStatistics>& chains) {
  std::vector<Equilibration> found;
  for (const ChainStatistics& chain : chains) {
    found.push_back(detect_equilibration(chain.average()));
  }
  return found;
}

bool known_to_within(const std::vector<ChainStatistics>& chains, double error_kj_per_mol) {
  return converged(ensemble_of(chains), error_kj_per_mol) &&
         std::ranges::none_of(chains, &ChainStatistics::remembers_start) &&
         std::ranges::none_of(equilibrations_of(chains), &Equilibration::is_late);
}

void StoppingGate::set_chains(std::size_t chains) {
  const std::lock_guard lock(mutex_);
  chains_ = chains;
  passed_.resize(std::max(chains, passed_.size()), 0);
  changed_.notify_all();
}

void StoppingGate::set_passed(std::size_t chain, std::uint64_t step) {
  const std::lock_guard lock(mutex_);
  if (passed_.size() <= chain) passed_.resize(chain + 1, 0);
  passed_[chain] = step;
  changed_.notify_all();
}

void StoppingGate::chain_resumed(std::size_t chain, std::uint64_t step) {
  set_passed(chain, step);
  if (listener_.resumed) listener_.resumed(chain, step);
}

void StoppingGate::add_arrival(std::size_t chain, std::uint64_t step,
                               const ChainStatistics& energies) {
  const std::lock_guard lock(mutex_);
  arrived_[step].emplace(chain, energies);
  changed_.notify_all();
}

void StoppingGate::set_finished(std::size_t chain, std::uint64_t step,
                                const ChainStatistics& energies) {
  const std::lock_guard lock(mutex_);
  finished_.insert_or_assign(chain, Finished{step, energies});
  changed_.notify_all();
}

void StoppingGate::chain_finished(std::size_t chain, std::uint64_t step,
                                  const ChainStatistics& energies) {
  set_finished(chain, step, energies);
  if (listener_.finished) listener_.finished(chain, step, energies);
}

const StoppingGate::Arrivals& StoppingGate::present(std::uint64_t step) {
  Arrivals& all = arrived_[step];
  for (const auto& [chain, last] : finished_) {
    if (last.step <= step) all.try_emplace(chain, last.energies);
  }
  return all;
}

StoppingGate::Answer StoppingGate::arrive(std::size_t chain, std::uint64_t step,
                                          const ChainStatistics& energies) {
  if (listener_.arrived) listener_.arrived(chain, step, energies);
  std::unique_lock lock(mutex_);
  arrived_[step].emplace(chain, energies);
  changed_.notify_all();
  const auto passed_before = [&] {
    return std::ranges::any_of(passed_, [&](std::uint64_t gate) { return gate >= step; });
  };
  // Someone who has been sent on from here knows the answer.
  while (!passed_before() && (chains_ == 0 || present(step).size() < chains_)) {
    if (give_up_()) return Answer::given_up;
    changed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  if (!passed_before()) {
    // All are here, and none will look at an earlier gate again.
    arrived_.erase(arrived_.begin(), arrived_.find(step));
    std::vector<ChainStatistics> all;
    for (const auto& [number, statistics] : present(step)) all.push_back(statistics);
    if (known_to_within(all, error_kj_per_mol_)) return Answer::known;
  }
  passed_[chain] = std::max(passed_[chain], step);
  return Answer::go_on;
}

}  // namespace starpmc
