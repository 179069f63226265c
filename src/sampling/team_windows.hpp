#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "sampling/chain_team.hpp"
#include "sampling/team_choice.hpp"

namespace starpmc {

/// The windows of a chain that are a team's: all, none, or those of the ways that are tried.
template <class Real>
class TeamWindows {
 public:
  /// What decides whether there is a team.
  struct Conditions {
    TaskSize tasks;
    unsigned chains_here;          ///< see make_chain()
    std::size_t windows_per_task;  ///< by one worker alone
    double grid_pairs;             ///< of a window
  };

  /// Before the density goes, and when the next one is there or none.
  void release_density();
  void take_density(ChainData<Real>& data, const WindowLayout& layout,
                    const Conditions& conditions);
  /// Windows get another length, or there is no density any more.
  void dissolve();
  /// Otherwise than by a team's windows.
  void data_changed();

  /// Whether the next windows are the team's.
  bool active() const { return team_ != nullptr && way() != WindowWay::alone; }
  void submit(const TeamWindowsTask& task) { team_->submit(task); }
  /// Windows that a task of it has at most.
  std::size_t windows_per_task() const { return windows_per_task_; }

  /// Whether ways are tried: windows on their way are waited for, and tell() told, after so many
  /// steps or as soon as a try has lasted().
  bool tries() const { return team_ != nullptr && !trial_->done(); }
  std::uint64_t steps_to_try() const { return trial_->steps_left(); }
  bool lasted(const StepPace& pace) const { return trial_->lasts(pace); }
  void tell(const StepPace& pace);

 private:
  WindowWay way() const { return trial_->way(); }
  std::string outcome() const;

  std::unique_ptr<ChainTeam<Real>> team_;  ///< null: none
  std::optional<WayTrial> trial_;          ///< of the team
  bool settled_alone_ = false;             ///< it was tried, and was not worth it
  std::size_t windows_per_task_ = 1;
};

}  // namespace starpmc
