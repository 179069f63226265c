#include "runtime/task_gaps.hpp"

namespace starpmc::codelets {

TaskGaps& TaskGaps::of_process() {
  static TaskGaps gaps;
  return gaps;
}

void TaskGaps::task_submitted(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (tasks_++ == 0) sum_ += now - begin_;
}

void TaskGaps::task_ended(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (--tasks_ == 0) begin_ = now;
}

double TaskGaps::seconds(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration<double>(sum_ + (tasks_ == 0 ? now - begin_ : Clock::duration{}))
      .count();
}

}  // namespace starpmc::codelets
