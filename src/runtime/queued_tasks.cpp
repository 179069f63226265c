#include "runtime/queued_tasks.hpp"

#include "base/environment.hpp"

namespace starpmc::codelets {
namespace {

thread_local const QueuedTasks* current_tasks = nullptr;

}  // namespace

bool workers_keep_order() { return environment("STARPU_SCHED") == "dmda"; }

QueuedTasks::QueuedTasks(int worker, starpu_data_handle_t result)
    : worker_(worker), result_(result), before_(current_tasks) {
  current_tasks = this;
}
QueuedTasks::~QueuedTasks() { current_tasks = before_; }

const QueuedTasks* QueuedTasks::current() { return current_tasks; }

}  // namespace starpmc::codelets
