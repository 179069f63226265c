#pragma once

#include <mutex>
#include <vector>

#include "runtime/task_label.hpp"

namespace starpmc::codelets {

/// What ran when and where; seconds of StarPU's clock, starpu_timing_now().
struct TaskRecord {
  std::size_t codelet;  ///< its place in Codelet::all()
  int worker;
  TaskLabel label;
  double submitted;
  double started;
  double ended;
};

/// Hears of every task that ends while it is attached.
class TaskListener {
 public:
  virtual ~TaskListener() = default;
  /// Called by StarPU's workers, several at once.
  virtual void on_task(const TaskRecord& record) noexcept = 0;

  /// For codelets: tells the one that is attached.
  static void tell(const TaskRecord& record) noexcept;
  /// Whether anyone hears it.
  static bool any() noexcept;

 protected:
  /// One at a time; all tasks must have ended when it changes.
  static void attach(TaskListener* listener) noexcept;
};

/// Keeps the records of all tasks that end while it lives.
class TaskRecording final : public TaskListener {
 public:
  TaskRecording();
  ~TaskRecording() override;
  TaskRecording(const TaskRecording&) = delete;
  TaskRecording& operator=(const TaskRecording&) = delete;

  std::vector<TaskRecord> records() const;
  void on_task(const TaskRecord& record) noexcept override;

 private:
  mutable std::mutex mutex_;
  std::vector<TaskRecord> records_;
};

}  // namespace starpmc::codelets
