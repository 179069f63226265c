#include "app/chain_threads.hpp"

#include <utility>

namespace starpmc {

ChainThreads::ChainThreads(MakeEngine make_engine, Run run)
    : make_engine_(std::move(make_engine)), run_(std::move(run)) {}

ChainThreads::~ChainThreads() {
  give(Order::leave);
  join();
}

void ChainThreads::start() { threads_.emplace_back(&ChainThreads::body, this, started()); }

void ChainThreads::body(unsigned index) {
  const bool first = index == 0;
  std::promise<std::unique_ptr<QmEngine>> engine;
  try {
    std::unique_ptr<QmEngine> made = make_engine_();
    if (first) {
      first_engine_.set_value(made == nullptr ? Engine()
                                              : Engine{true, made->name(), made->version(),
                                                       made->serves_exact_ensemble()});
    }
    engine.set_value(std::move(made));
  } catch (...) {
    if (first) first_engine_.set_exception(std::current_exception());
    engine.set_exception(std::current_exception());
  }
  if (wait_for_order() == Order::run) run_(index, engine.get_future());
}

ChainThreads::Engine ChainThreads::first_engine() { return first_engine_.get_future().get(); }

void ChainThreads::run() { give(Order::run); }

void ChainThreads::give(Order order) {
  {
    const std::lock_guard lock(mutex_);
    order_ = order;
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
