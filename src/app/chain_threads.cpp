#include "app/chain_threads.hpp"

#include <atomic>
#include <exception>
#include <utility>

#include "kernels/base/logging.hpp"

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
  std::unique_ptr<QmEngine> made;
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
    made = make_engine_(index, spawned);
    if (first) {
      first_made_.set_value(made == nullptr
                                ? Engine()
                                : Engine{true, made->name(), made->version(), made->device(),
                                         made->serves_exact_ensemble()});
    }
  } catch (...) {
    if (first) first_made_.set_exception(std::current_exception());
    engine.set_exception(std::current_exception());
    failed = true;
  }
  spawned();  // also where there is no process
  count(made_, failed);
  if (wait_for_order(true) == Order::wait) {
    if (made) work(*made);
    count(returned_, false);
  }
  if (!failed) engine.set_value(std::move(made));
  if (wait_for_order(false) == Order::run) run_(index, engine.get_future());
}

void ChainThreads::work(QmEngine& engine) noexcept {
  try {
    work_(engine);
  } catch (const std::exception& failure) {
    spdlog::info("a QM worker that was lent failed: {}", failure.what());
    const std::lock_guard lock(mutex_);
    failed_ = true;
  }
}

void ChainThreads::count(unsigned& of, bool failed) {
  const std::lock_guard lock(mutex_);
  ++of;
  failed_ = failed_ || failed;
  ordered_.notify_all();
}

void ChainThreads::wait_for_processes() {
  std::unique_lock lock(mutex_);
  ordered_.wait(lock, [this] { return spawned_ == started(); });
}

ChainThreads::Engine ChainThreads::first_engine() const { return first_engine_.get(); }

bool ChainThreads::wait_for_engines() {
  std::unique_lock lock(mutex_);
  ordered_.wait(lock, [this] {
    return made_ == started() && (!work_ || returned_ == started() || order_ != Order::wait);
  });
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

void ChainThreads::lend(Work work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
  }
  ordered_.notify_all();
}

void ChainThreads::take_back() {
  wait_for_engines();
  const std::lock_guard lock(mutex_);
  work_ = {};
}

/// @param lendable whether work is an order, too: to wait for another one afterwards
ChainThreads::Order ChainThreads::wait_for_order(bool lendable) {
  std::unique_lock lock(mutex_);
  ordered_.wait(lock, [&] { return order_ != Order::wait || (lendable && work_); });
  return order_;
}

void ChainThreads::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace starpmc
