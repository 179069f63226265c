#include "io/background_writer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace starpmc {
namespace {

/// Waking a thread takes as long as writing a few lines, so that they wait for each other.
constexpr std::size_t bytes_worth_waking = std::size_t{1} << 16;
constexpr std::chrono::seconds longest_rest{1};

}  // namespace

BackgroundWriter::BackgroundWriter(std::size_t most_bytes, std::function<void()> when_idle)
    : most_bytes_(most_bytes), when_idle_(std::move(when_idle)), thread_([this] { work(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  to_do_.notify_one();
  thread_.join();
}

void BackgroundWriter::rethrow() const {
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void BackgroundWriter::add(std::size_t bytes, std::function<void()> job) {
  bytes = std::max<std::size_t>(bytes, 1);  // 0 means that all is done
  std::unique_lock lock(mutex_);
  const auto has_room = [&] {
    return error_ != nullptr || bytes_ == 0 || bytes_ + bytes <= most_bytes_;
  };
  if (!has_room()) await(lock, has_room);
  rethrow();
  jobs_.push_back({bytes, std::move(job)});
  bytes_ += bytes;
  if (bytes_ >= bytes_worth_waking) to_do_.notify_one();
}

void BackgroundWriter::wait() {
  std::unique_lock lock(mutex_);
  await(lock, [&] { return error_ != nullptr || bytes_ == 0; });
  rethrow();
}

void BackgroundWriter::await(std::unique_lock<std::mutex>& lock,
                             const std::function<bool()>& reached) {
  ++waiting_;
  to_do_.notify_one();
  done_.wait(lock, reached);
  --waiting_;
}

void BackgroundWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    to_do_.wait_for(lock, longest_rest, [&] {
      return ending_ || (!jobs_.empty() && (waiting_ > 0 || bytes_ >= bytes_worth_waking));
    });
    if (!jobs_.empty()) {
      do_jobs(lock);
    } else if (ending_) {
      return;
    } else if (std::exchange(idle_call_due_, false) && when_idle_ && error_ == nullptr) {
      call(lock, when_idle_);
    }
  }
}

void BackgroundWriter::do_jobs(std::unique_lock<std::mutex>& lock) {
  while (!jobs_.empty()) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    if (error_ == nullptr) call(lock, job.action);
    job.action = {};
    bytes_ -= job.bytes;
    done_.notify_all();
  }
  idle_call_due_ = true;
}

/// Without the lock.
void BackgroundWriter::call(std::unique_lock<std::mutex>& lock,
                            const std::function<void()>& action) {
  lock.unlock();
  std::exception_ptr error;
  try {
    action();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error != nullptr) error_ = error;
}

}  // namespace starpmc
