#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "analysis/ensemble.hpp"
#include "analysis/equilibration.hpp"

namespace starpmc {

/// Of all chains together.
EnsembleEstimate ensemble_of(const std::vector<ChainStatistics>& chains);

/// Of each chain.
std::vector<Equilibration> equilibrations_of(const std::vector<ChainStatistics>& chains);

/// converged(), and no chain's production begins before it is equilibrated or remembers the sampled
/// ensemble that it began in: the mean of such a chain is off by more than its error tells.
bool known_to_within(const std::vector<ChainStatistics>& chains, double error_kj_per_mol);

/// Where chains meet to ask whether the ensemble's mean energy is known well enough
/// (sampling.until-error). All wait for all at the same steps, so that what they decide depends on
/// the trajectories only, not on who is faster.
class StoppingGate {
 public:
  /// @param error_kj_per_mol 0: nobody waits
  /// @param give_up          asked while waiting: the run ends for another reason
  StoppingGate(double error_kj_per_mol, std::function<bool()> give_up)
      : error_kj_per_mol_(error_kj_per_mol), give_up_(std::move(give_up)) {}

  bool active() const { return error_kj_per_mol_ > 0; }
  /// Until it is known how many there are, all that arrive wait.
  void set_chains(std::size_t chains);
  /// What other ranks must hear of, as they call add_arrival() and set_passed() with it. Called by
  /// the chains' threads; set before they start.
  struct Listener {
    std::function<void(std::size_t chain, std::uint64_t step, const ChainStatistics& energies)>
        arrived;
    std::function<void(std::size_t chain, std::uint64_t step)> resumed;
    std::function<void(std::size_t chain, std::uint64_t step, const ChainStatistics& energies)>
        finished;
  };
  void set_listener(Listener listener) { listener_ = std::move(listener); }
  /// A chain of another rank has come to the gate at `step`.
  void add_arrival(std::size_t chain, std::uint64_t step, const ChainStatistics& energies);
  /// A resumed chain of this rank has been past the gate at `step` before.
  void chain_resumed(std::size_t chain, std::uint64_t step);
  /// The same of a chain of any rank.
  void set_passed(std::size_t chain, std::uint64_t step);
  /// A chain of this rank has made all its steps: nobody waits for it at `step` or later, where it
  /// counts with these energies. Chains need not have equally many gates.
  void chain_finished(std::size_t chain, std::uint64_t step, const ChainStatistics& energies);
  /// The same of a chain of any rank.
  void set_finished(std::size_t chain, std::uint64_t step, const ChainStatistics& energies);
  enum class Answer { go_on, known, given_up };
  /// Waits for all chains. @param energies of the chain's production up to `step`
  Answer arrive(std::size_t chain, std::uint64_t step, const ChainStatistics& energies);

 private:
  struct Finished {
    std::uint64_t step;
    ChainStatistics energies;
  };
  using Arrivals = std::map<std::size_t, ChainStatistics>;
  /// Those at the gate at `step`, and with them those that have finished before.
  const Arrivals& present(std::uint64_t step);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t chains_ = 0;
  std::vector<std::uint64_t> passed_;  ///< per chain: the last gate it was sent on from
  std::map<std::uint64_t, Arrivals> arrived_;
  std::map<std::size_t, Finished> finished_;
  double error_kj_per_mol_;
  std::function<bool()> give_up_;
  Listener listener_;
};

}  // namespace starpmc
