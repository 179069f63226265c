#include "codelets/task_recording.hpp"

#include <atomic>

namespace starpmc::codelets {
namespace {

std::atomic<TaskRecording*> listener{nullptr};

}  // namespace

TaskRecording::TaskRecording() { listener = this; }
TaskRecording::~TaskRecording() { listener = nullptr; }

std::vector<TaskRecord> TaskRecording::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

void TaskRecording::note(const TaskRecord& record) {
  TaskRecording* const recording = listener.load();
  if (recording == nullptr) return;
  const std::lock_guard lock(recording->mutex_);
  recording->records_.push_back(record);
}

}  // namespace starpmc::codelets
