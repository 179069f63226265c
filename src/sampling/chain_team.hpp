#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codelets/operations.hpp"
#include "sampling/chain_state.hpp"

namespace starpmc {

/// A worker that may share a chain with others.
struct TeamWorker {
  int worker;
  double pairs_per_second;  ///< of the grid term
};
/// Those whose speed counts beside the fastest one's; fewer than 2: nothing is to be shared.
std::vector<TeamWorker> team_workers(Precision precision);

/// Cuts `groups` things in proportion to weights, of which there are not more: the first one of
/// each share, and the end. No share is empty.
std::vector<std::size_t> shares_of(std::size_t groups, const std::vector<double>& weights);

/// Windows to make, as codelets::sample_windows() is told of them.
struct TeamWindowsTask {
  StepRange range;
  std::span<const opencl::WindowExtent> extents;
  codelets::PeriodicTuning tuning;
  starpu_data_handle_t record;
};

/// The workers that share a chain with a density. Each has the chain's state in handles of its own,
/// proposes every window and evaluates its MM terms itself, and of the density its own blocks. What
/// it tells the others, while their tasks run, is its blocks' energies of the candidates
/// (EnergyExchange). All add the same numbers and take the same decisions, so no state has to
/// travel.
template <class Real>
class ChainTeam {
 public:
  /// @param data    with a density; its lattice, running totals and caches are the first member's
  /// @param windows that a task has at most
  ChainTeam(ChainData<Real>& data, const WindowLayout& layout, std::size_t windows,
            const std::vector<TeamWorker>& workers);

  /// Before the chain's density goes, and when the next one is there.
  void release_density();
  void take_density();
  /// Something else than its windows has changed the chain's data.
  void data_changed() { stale_ = true; }

  /// Submits a task of each member.
  void submit(const TeamWindowsTask& task);

  /// Cuts the density anew by the times that windows took the members since it was cut, where these
  /// differ.
  void balance();
  /// Of the density's blocks, one for each member.
  std::vector<double> shares() const;
  std::size_t members() const { return members_.size(); }

 private:
  struct Member {
    int worker;
    WindowBuffers<Real> window;
    // Copies of the chain's own; the first member has none.
    DataHandle lattice;
    DataHandle lattice_sites;
    DataHandle chain_state;
    DataHandle field_cache;
    DataHandle record;
    std::optional<typename BlockedPoints<Real>::Part> blocks;
    double weight;  ///< share of the blocks
  };

  bool is_first(const Member& member) const { return &member == &members_.front(); }
  void copy_state();
  void cut_density();
  /// @throws RunError where members have decided differently
  void expect_same_states() const;
  void submit_to(std::size_t member, const TeamWindowsTask& task);
  codelets::SampleHandles handles_of(const Member& member, starpu_data_handle_t record) const;

  ChainData<Real>& data_;
  WindowLayout layout_;
  bool stale_ = true;
  std::unique_ptr<EnergyExchange> exchange_;  ///< outlives the members' tasks
  std::vector<Member> members_;
};

}  // namespace starpmc
