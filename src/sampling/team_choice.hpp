#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace starpmc {

/// How the windows of a chain with a density are made.
enum class WindowWay {
  alone,  ///< by one worker, or any
  team,
};

/// How long steps took, from before their first window was submitted until all were observed.
struct StepPace {
  double seconds = 0;
  std::uint64_t steps = 0;
};

/// Finds by trial which way takes least time. Both make the same steps, so trying costs only the
/// slower one's time; and what was measured is believed before any model, which knows nothing of
/// what a team costs besides its work.
class WayTrial {
 public:
  /// @param alone_too   whether a team has to prove that it is worth it
  /// @param least_steps of a try, unless they take long
  WayTrial(bool alone_too, std::uint64_t least_steps) : least_steps_(least_steps) {
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

  /// Whether a try has lasted with these; none: so far.
  bool lasts(const StepPace& more = {}) const {
    return sum_.steps + more.steps >= least_steps_ || sum_.seconds + more.seconds > kLongSeconds;
  }
  /// Steps that it still wants.
  std::uint64_t steps_left() const { return least_steps_ - std::min(least_steps_, sum_.steps); }

  /// What more windows of the try took; steps may come in many short runs.
  /// @return whether it was the last of this try
  bool tell(const StepPace& pace) {
    if (done()) return false;
    sum_.seconds += pace.seconds;
    sum_.steps += pace.steps;
    if (!lasts() || sum_.steps == 0) return false;
    if (plan_[at_].timed) {
      double& best = best_[static_cast<std::size_t>(plan_[at_].way)];
      best = std::min(best, sum_.seconds / static_cast<double>(sum_.steps));
    }
    sum_ = {};
    ++at_;
    if (done() && of(WindowWay::team) < kGain * of(choice_)) choice_ = WindowWay::team;
    return true;
  }

  /// Best seconds of a step so far; infinite: not tried.
  double of(WindowWay way) const { return best_[static_cast<std::size_t>(way)]; }

 private:
  static constexpr int kBalances = 4;
  static constexpr int kRounds = 3;
  static constexpr double kLongSeconds = 0.2;
  /// Less is not worth the other devices' time.
  static constexpr double kGain = 0.97;

  struct Try {
    WindowWay way;
    bool timed;
  };
  std::uint64_t least_steps_;
  std::vector<Try> plan_;
  std::size_t at_ = 0;
  StepPace sum_;  ///< of this try so far
  std::array<double, 2> best_{};
  WindowWay choice_ = WindowWay::team;
};

}  // namespace starpmc
