#pragma once

#include <cstdint>

namespace starpmc::codelets {

/// For whom a task works: part of its name and of its record.
struct TaskLabel {
  static constexpr std::int32_t kNone = -1;
  std::int32_t chain = kNone;
  std::int64_t window =
      kNone;  ///< the first it works on, from 0 where the chain starts or is resumed
};

/// While it lives, this thread's tasks are submitted with this label.
class LabelledTasks {
 public:
  explicit LabelledTasks(const TaskLabel& label);
  ~LabelledTasks();
  LabelledTasks(const LabelledTasks&) = delete;
  LabelledTasks& operator=(const LabelledTasks&) = delete;

  /// Of this thread's next task.
  static const TaskLabel& current();

 private:
  TaskLabel before_;
};

}  // namespace starpmc::codelets
