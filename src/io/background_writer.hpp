#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace starpmc {

/// A thread that writes while others compute. Jobs are done in the order in which they were added;
/// the memory of those that wait is bounded. After a job has failed, no more are done, and the next
/// call of add() or wait() throws its exception.
class BackgroundWriter {
 public:
  /// @param most_bytes that wait for the thread
  /// @param when_idle  called by the thread every second in which it has done jobs and has no more
  explicit BackgroundWriter(std::size_t most_bytes, std::function<void()> when_idle = {});
  /// Does what is waiting; an error is lost, so call wait() before.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Waits where others are waiting with more than most_bytes in all.
  /// @param bytes about what the job holds
  void add(std::size_t bytes, std::function<void()> job);
  /// Returns when all jobs are done.
  void wait();

 private:
  struct Job {
    std::size_t bytes;
    std::function<void()> action;
  };
  void work();
  void do_jobs(std::unique_lock<std::mutex>& lock);
  void call(std::unique_lock<std::mutex>& lock, const std::function<void()>& action);
  void await(std::unique_lock<std::mutex>& lock, const std::function<bool()>& reached);
  void rethrow() const;

  const std::size_t most_bytes_;
  const std::function<void()> when_idle_;
  std::mutex mutex_;  ///< of what follows
  std::condition_variable to_do_;
  std::condition_variable done_;
  std::deque<Job> jobs_;
  std::size_t bytes_ = 0;  ///< of the jobs, that being done included
  unsigned waiting_ = 0;   ///< calls that wait: small jobs must not be let lie
  bool idle_call_due_ = false;
  bool ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace starpmc
