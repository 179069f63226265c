#pragma once

#include "runtime/codelet.hpp"

/// Tasks that a device makes in the order of its queue.
///
/// StarPU gives a task to a device when those have ended that write what it reads. So between two
/// kernels of a window a device waits until its worker has seen the first end, found who waited for
/// it, and started the second: some 40 us for each of a window's links. The device's queue keeps
/// the order by itself. Tasks of a QueuedTasks only read, as far as StarPU knows: all go to the
/// queue at once, in the order of their submission. Whoever uses it has
/// DataHandle::leave_to_device() called for what they write, before and after.
namespace starpmc::codelets {

/// Whether a worker takes tasks in the order in which they were submitted, where they wait for
/// none.
bool workers_keep_order();

/// While it lives, this thread's tasks are such.
class QueuedTasks {
 public:
  /// @param worker which drives the device
  /// @param result the one handle whose tasks StarPU orders: what the host waits for
  QueuedTasks(int worker, starpu_data_handle_t result);
  ~QueuedTasks();
  QueuedTasks(const QueuedTasks&) = delete;
  QueuedTasks& operator=(const QueuedTasks&) = delete;

  /// Of this thread's next task; null: none.
  static const QueuedTasks* current();

  int worker() const { return worker_; }
  starpu_data_access_mode mode(const Access& access) const {
    return access.handle == result_ ? access.mode : STARPU_R;
  }

 private:
  int worker_;
  starpu_data_handle_t result_;
  const QueuedTasks* before_;
};

}  // namespace starpmc::codelets
