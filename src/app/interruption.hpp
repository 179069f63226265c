#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace starpmc {

/// The wish to stop: SIGINT, SIGTERM, SIGHUP (a terminal that is closed; unless it is ignored, as
/// under nohup), or another chain's failure. While it lives the signals are blocked in this thread
/// and in those started later, and a thread of its own waits for them. A second signal, half a
/// second later or more, ends the program at once; the last checkpoints stay.
class Interruption {
 public:
  /// @param speaks       whether it tells the user of a signal; one rank's does
  /// @param how_to_go_on told at once where a launcher may end the program before it can tell it
  explicit Interruption(bool speaks = true, const std::string& how_to_go_on = "");
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool requested() const { return requested_.load(std::memory_order_relaxed); }
  /// The signal that asked for it; 0: none did.
  int signal() const { return signal_.load(); }
  /// The first that any of this process has had, for what comes after one that has ended.
  static int first_signal();
  void request();
  /// Called once when the wish comes, by another thread; at once where it has come.
  void on_request(std::function<void()> action);

 private:
  void wait_for_signals();

  bool speaks_;
  std::string announcement_;
  std::atomic<bool> requested_{false};
  std::atomic<int> signal_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::vector<std::function<void()>> actions_;
  std::thread waiter_;
};

}  // namespace starpmc
