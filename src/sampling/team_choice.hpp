#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace starpmc {

/// How the windows of a chain with a density are made.
enum class WindowWay {
  alone,  ///< by one worker, or any
  team,
};

/// How long steps took from when a window was there until a later one was.
struct StepPace {
  double seconds = 0;
  std::uint64_t steps = 0;
};

/// Measures it.
class PaceMeter {
 public:
  /// The steps before this one are made.
  void passed(std::uint64_t step) {
    const auto now = std::chrono::steady_clock::now();
    if (!first_) {
      first_ = {step, now};
      return;
    }
    pace_ = {std::chrono::duration<double>(now - first_->second).count(), step - first_->first};
  }
  const StepPace& pace() const { return pace_; }

 private:
  std::optional<std::pair<std::uint64_t, std::chrono::steady_clock::time_point>> first_;
  StepPace pace_;
};

/// Finds by trial which way takes least time. All of them make the same steps, so trying costs only
/// the slower ones' time; and what was measured is believed before any model, which knows nothing
/// of what a team costs besides its work.
class WayTrial {
 public:
  /// @param alone_too whether a team has to prove that it is worth it
  explicit WayTrial(bool alone_too) {
    // A new team's first windows bring the density to its members, and tell how fast these are.
    for (int i = 0; i < kBalances; ++i) plan_.push_back({WindowWay::team, false});
    for (int i = 0; i < kRounds; ++i) {
      if (alone_too) plan_.push_back({WindowWay::alone, true});
      plan_.push_back({WindowWay::team, true});
    }
    best_.fill(std::numeric_limits<double>::infinity());
    if (alone_too) choice_ = WindowWay::alone;
  }

  bool done() const { return at_ == plan_.size(); }
  /// Of the next windows.
  WindowWay way() const { return done() ? choice_ : plan_[at_].way; }
  /// Whether they only show how a team's work is best shared out.
  bool balances() const { return !done() && !plan_[at_].timed; }

  /// What they took. None where there were too few to tell; a chain that never makes enough of them
  /// in a row stays as it was.
  void tell(const StepPace& pace) {
    if (done()) return;
    if (pace.steps == 0) {
      if (++in_vain_ == kMostInVain) at_ = plan_.size();
      return;
    }
    in_vain_ = 0;
    if (plan_[at_].timed) {
      double& best = best_[static_cast<std::size_t>(plan_[at_].way)];
      best = std::min(best, pace.seconds / static_cast<double>(pace.steps));
    }
    ++at_;
    if (!done()) return;
    if (of(WindowWay::team) < kGain * of(choice_)) choice_ = WindowWay::team;
  }

  /// Best seconds of a step so far; infinite: not tried.
  double of(WindowWay way) const { return best_[static_cast<std::size_t>(way)]; }

 private:
  static constexpr int kBalances = 4;
  static constexpr int kRounds = 3;
  static constexpr int kMostInVain = 10;
  /// Less is not worth the other devices' time.
  static constexpr double kGain = 0.97;

  struct Try {
    WindowWay way;
    bool timed;
  };
  std::vector<Try> plan_;
  std::size_t at_ = 0;
  int in_vain_ = 0;
  std::array<double, 2> best_{};
  WindowWay choice_ = WindowWay::team;
};

}  // namespace starpmc
