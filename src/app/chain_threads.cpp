#include "app/chain_threads.hpp"

#include <atomic>
#include <utility>

namespace starpmc {

ChainThreads::ChainThreads(MakeEngine make_engine) : make_engine_(std::move(make_engine)) {}

ChainThreads::~ChainThreads() { end(); }

void ChainThreads::end() {
  give(Order::leave);
  join();
}

void ChainThreads::start() { threads_.emplace_back(&ChainThreads::body, this, started()); }

void ChainThreads::body(unsigned index) {
  const bool first = index == 0;
  bool failed = false;
  std::promise<std::unique_ptr<QmEngine>> engine;
  // Called again where a worker that was lost is started again.
  const auto told = std::make_shared<std::atomic_flag>();
  const std::function<void()> spawned = [this, told] {
    if (told->test_and_set()) return;
    const std::lock_guard lock(mutex_);
    ++spawned_;
    ordered_.notify_all();
  };
  try {
    std::unique_ptr<QmEngine> made = make_engine_(index, spawned);
    if (first) {
      first_made_.set_value(made == nullptr
                                ? Engine()
                                : Engine{true, made->name(), made->version(), made->device(),
                                         made->serves_exact_ensemble()});
    }
    engine.set_value(std::move(made));
  } catch (...) {
    if (first) first_made_.set_exception(std::current_exception());
    engine.set_exception(std::current_exception());
    failed = true;
  }
  spawned();  // also where there is no process
  {
    const std::lock_guard lock(mutex_);
    ++made_;
    failed_ = failed_ || failed;
    ordered_.notify_all();
  }
  if (wait_for_order() == Order::run) run_(index, engine.get_future());
}

void ChainThreads::wait_for_processes() {
  std::unique_lock lock(mutex_);
  ordered_.wait(lock, [this] { return spawned_ == started(); });
}

ChainThreads::Engine ChainThreads::first_engine() const { return first_engine_.get(); }

bool ChainThreads::wait_for_engines() {
  std::unique_lock lock(mutex_);
  ordered_.wait(lock, [this] { return made_ == started(); });
  return !failed_;
}

bool ChainThreads::ordered() {
  const std::lock_guard lock(mutex_);
  return order_ != Order::wait;
}

void ChainThreads::run(Run run) { give(Order::run, std::move(run)); }

void ChainThreads::give(Order order, Run run) {
  {
    const std::lock_guard lock(mutex_);
    order_ = order;
    if (run) run_ = std::move(run);
  }
  ordered_.notify_all();
}

ChainThreads::Order ChainThreads::wait_for_order() {
  std::unique_lock lock(mutex_);
  ordered_.wait(lock, [this] { return order_ != Order::wait; });
  return order_;
}

void ChainThreads::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace starpmc
