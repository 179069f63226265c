#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace starpmc::codelets {

/// The time in which no task at all is submitted or runs: workers idle then because there is
/// nothing to do, and otherwise because what there is waits for other tasks.
class TaskGaps {
 public:
  using Clock = std::chrono::steady_clock;

  /// Of all codelets.
  static TaskGaps& of_process();

  void task_submitted(Clock::time_point now = Clock::now());
  void task_ended(Clock::time_point now = Clock::now());
  /// From the beginning until now.
  double seconds(Clock::time_point now = Clock::now()) const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t tasks_ = 0;  ///< under way
  Clock::time_point begin_ = Clock::now();
  Clock::duration sum_{};
};

}  // namespace starpmc::codelets
