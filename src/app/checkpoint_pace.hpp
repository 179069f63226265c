#pragma once

#include <chrono>

namespace starpmc {

/// When a chain writes checkpoints. Each holds all updates so far, so that one after each of many
/// short updates would take ever longer.
class CheckpointPace {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param longest_seconds between two checkpoints
  CheckpointPace(double longest_seconds, Clock::time_point now)
      : longest_seconds_(longest_seconds), last_(now) {}

  void taken(Clock::time_point now) { last_ = now; }
  bool is_due(Clock::time_point now) const { return since(now) >= longest_seconds_; }
  /// Whether what has been computed since the last one took much longer than that one's writing.
  /// @param cost_seconds of the last one
  bool is_worth_it(Clock::time_point now, double cost_seconds) const {
    return since(now) * kLargestShare >= cost_seconds || is_due(now);
  }

 private:
  static constexpr double kLargestShare = 0.02;  ///< of the time, where no checkpoint is due
  double since(Clock::time_point now) const {
    return std::chrono::duration<double>(now - last_).count();
  }

  double longest_seconds_;
  Clock::time_point last_;
};

}  // namespace starpmc
