#include "app/interruption.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <string_view>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

std::atomic<int> first_of_process{0};

/// Started by nohup: a closed terminal is to stop nothing.
bool ignores_hangup() {
  struct sigaction hangup {};
  return sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (!ignores_hangup()) sigaddset(&signals, SIGHUP);
  return signals;
}

void say(std::string_view text) {
  // Nothing is lost if standard error is gone.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Interruption::Interruption(bool speaks, const std::string& how_to_go_on)
    : speaks_(speaks),
      announcement_(
          "\nstarpmc: stopping: the windows under way, then a checkpoint (once more: at once)\n") {
  if (!how_to_go_on.empty()) {
    announcement_ += "starpmc: afterwards go on with: " + how_to_go_on + "\n";
  }
  const sigset_t signals = stop_signals();
  if (pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) {
    throw RunError("cannot wait for SIGINT, SIGTERM and SIGHUP");
  }
  waiter_ = std::thread([this] { wait_for_signals(); });
}

Interruption::~Interruption() {
  ending_ = true;
  waiter_.join();
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

int Interruption::first_signal() { return first_of_process.load(); }

void Interruption::wait_for_signals() {
  const sigset_t signals = stop_signals();
  constexpr timespec kLook{0, 50'000'000};
  // timeout(1) and launchers signal the process and its group: one wish comes twice.
  constexpr auto kSameWish = std::chrono::milliseconds(500);
  std::chrono::steady_clock::time_point first;
  while (!ending_) {
    const int signal = sigtimedwait(&signals, nullptr, &kLook);
    if (signal <= 0) continue;
    const auto now = std::chrono::steady_clock::now();
    if (signal_ != 0 && now - first < kSameWish) continue;
    if (signal_.exchange(signal) != 0) {
      if (speaks_) say("\nstarpmc: stopped at once; the last checkpoints are whole\n");
      _exit(128 + signal);
    }
    first = now;
    int none = 0;
    first_of_process.compare_exchange_strong(none, signal);
    if (speaks_) say(announcement_);
    request();
  }
}

void Interruption::request() {
  const std::lock_guard lock(mutex_);
  if (requested_.exchange(true)) return;
  for (const auto& action : actions_) action();
}

void Interruption::on_request(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  if (requested()) {
    action();
  } else {
    actions_.push_back(std::move(action));
  }
}

}  // namespace starpmc
