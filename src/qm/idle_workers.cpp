#include "qm/idle_workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <thread>
#include <utility>

#include "base/quiet_thread.hpp"

namespace starpmc {

/// A thread that does what it is given, in turn.
class IdleWorkers::Starter {
 public:
  using Task = std::packaged_task<std::unique_ptr<WorkerProcess>()>;

  Starter() : thread_(thread_without_signals([this] { work(); })) {}
  ~Starter() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;

  std::unique_ptr<WorkerProcess> operator()(Task task) {
    auto started = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_all();
    return started.get();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool ended_ = false;
  std::jthread thread_;  ///< last: it ends before what it uses does
};

IdleWorkers::IdleWorkers() : starter_(std::make_unique<Starter>()) {}

IdleWorkers::~IdleWorkers() { clear(); }

StartedWorker IdleWorkers::take(const WorkerKind& kind,
                                const std::shared_ptr<const CancelSignal>& cancel) {
  for (;;) {
    StartedWorker found;
    {
      const std::lock_guard lock(mutex_);
      const auto at = std::ranges::find(idle_, kind, &Idle::kind);
      if (at == idle_.end()) return {};
      found = std::move(at->worker);
      idle_.erase(at);
    }
    if (!found.process->fit()) continue;  // it has died meanwhile
    found.process->heed(cancel);
    return found;
  }
}

std::unique_ptr<WorkerProcess> IdleWorkers::start(const WorkerKind& kind,
                                                  std::shared_ptr<const CancelSignal> cancel) {
  return (*starter_)(Starter::Task([&] {
    return std::make_unique<WorkerProcess>(kind.command, kind.environment, std::move(cancel));
  }));
}

void IdleWorkers::give(const WorkerKind& kind, StartedWorker worker) {
  if (!worker.process->fit()) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back({kind, std::move(worker)});
}

std::size_t IdleWorkers::count(unsigned first, unsigned end) const {
  const std::lock_guard lock(mutex_);
  const auto count = std::ranges::count_if(idle_, [&](const Idle& idle) {
    return idle.kind.device_number >= first && idle.kind.device_number < end;
  });
  return static_cast<std::size_t>(count);
}

void IdleWorkers::clear() {
  std::deque<Idle> ending;
  const std::lock_guard lock(mutex_);
  ending.swap(idle_);
}

}  // namespace starpmc
