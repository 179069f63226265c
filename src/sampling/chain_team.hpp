#pragma once

#include <array>
#include <optional>
#include <vector>

#include "codelets/team_window.hpp"
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

/// A window on its way.
struct TeamStep {
  StepRange range;
  opencl::WindowExtent extent;
  StepTuning tuning;  ///< behind it
  starpu_data_handle_t record;
};

/// The workers that share a chain with a density. Each has the chain's state in handles of its own,
/// proposes every window and evaluates its MM terms itself, and of the density its own blocks. What
/// it tells the others is its blocks' energies of the candidates and, of steps in doubt, their
/// exact ones. All add the same numbers and take the same decisions, so no state has to travel.
template <class Real>
class ChainTeam {
 public:
  /// @param data   with a density; its lattice, running totals and caches are the first member's
  ChainTeam(ChainData<Real>& data, const WindowLayout& layout,
            const std::vector<TeamWorker>& workers);

  /// Before the chain's density goes, and when the next one is there.
  void release_density();
  void take_density();
  /// Something else than its windows has changed the chain's data.
  void data_changed() { stale_ = true; }

  /// Whether members share the exact energies of steps in doubt, for one exchange more; otherwise
  /// each evaluates all of them. Not before finish().
  void share_doubts(bool shares) { shares_ = shares; }

  /// Submits the evaluation of a window and the decision of the one before it.
  void submit(const TeamStep& next);
  /// Submits the decision of the last window.
  void finish();

  /// Cuts the density anew by the times that windows took the members since the last call, where
  /// these differ.
  void balance();
  /// Of the density's blocks, one for each member.
  std::vector<double> shares() const;
  std::size_t members() const { return members_.size(); }

 private:
  struct Member {
    int worker;
    WindowBuffers<Real> window;
    DataHandle scratch;
    std::array<DataHandle, 2> energies;  ///< of its blocks; of one window and the next
    DataHandle shares;
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
  void submit_tasks(const TeamStep* next);
  void submit_task(const Member& member, const codelets::TeamStages& stages, const TeamStep* next);
  codelets::TeamMemberHandles handles_of(const Member& member) const;

  ChainData<Real>& data_;
  WindowLayout layout_;
  bool shares_ = true;
  bool stale_ = true;
  std::vector<Member> members_;
  std::optional<TeamStep> pending_;  ///< evaluated, not yet decided
  std::size_t turn_ = 0;             ///< where its energies are
  std::vector<double> seconds_before_;
};

}  // namespace starpmc
