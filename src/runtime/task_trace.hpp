#pragma once

#include <filesystem>

#include "io/timeline.hpp"
#include "runtime/starpu_runtime.hpp"
#include "runtime/task_recording.hpp"

namespace starpmc {

/// Records every task that ends while it lives, from StarPU's profiling, on the disk.
class TaskTrace final : public codelets::TaskListener {
 public:
  /// The start of the timeline is now.
  /// @param spool a temporary file of this process
  /// @throws RunError if it cannot be written
  explicit TaskTrace(const std::filesystem::path& spool);
  /// Waits for the tasks under way; removes the temporary file.
  ~TaskTrace() override;
  TaskTrace(const TaskTrace&) = delete;
  TaskTrace& operator=(const TaskTrace&) = delete;

  void on_task(const codelets::TaskRecord& record) noexcept override;
  /// Ends recording; all tasks must have ended.
  /// @returns what was recorded; the file lasts as long as this object
  /// @throws RunError where the disk could not take it
  TimelinePart finish(const std::vector<TimelineWorker>& workers);

 private:
  TimelineSpool spool_;
  double start_seconds_;
};

}  // namespace starpmc
