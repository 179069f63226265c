#include "runtime/task_recording.hpp"

#include <atomic>

namespace starpmc::codelets {
namespace {

std::atomic<TaskListener*> attached{nullptr};

}  // namespace

void TaskListener::attach(TaskListener* listener) noexcept { attached = listener; }
bool TaskListener::any() noexcept { return attached.load(std::memory_order_relaxed) != nullptr; }

void TaskListener::tell(const TaskRecord& record) noexcept {
  TaskListener* const listener = attached.load();
  if (listener != nullptr) listener->on_task(record);
}

TaskRecording::TaskRecording() { attach(this); }
TaskRecording::~TaskRecording() { attach(nullptr); }

std::vector<TaskRecord> TaskRecording::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

void TaskRecording::on_task(const TaskRecord& record) noexcept {
  const std::lock_guard lock(mutex_);
  records_.push_back(record);
}

}  // namespace starpmc::codelets
