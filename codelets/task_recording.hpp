#pragma once

#include <mutex>
#include <vector>

namespace starpmc::codelets {

/// When and where a task ran; seconds of one clock.
struct TaskRecord {
  int worker;
  double submitted;
  double started;
  double ended;
};

/// Notes every task that ends while it lives. One at a time; tasks must have ended before it does.
class TaskRecording {
 public:
  TaskRecording();
  ~TaskRecording();
  TaskRecording(const TaskRecording&) = delete;
  TaskRecording& operator=(const TaskRecording&) = delete;

  std::vector<TaskRecord> records() const;

  /// For codelets: notes a task where someone listens.
  static void note(const TaskRecord& record);

 private:
  mutable std::mutex mutex_;
  std::vector<TaskRecord> records_;
};

}  // namespace starpmc::codelets
