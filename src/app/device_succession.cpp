#include "app/device_succession.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <optional>
#include <utility>

#include "app/replace_process.hpp"
#include "base/environment.hpp"
#include "base/processors.hpp"
#include "kernels/base/error.hpp"
#include "runtime/device_failure.hpp"

namespace starpmc {
namespace {

/// How this process began.
struct Start {
  std::vector<std::string> environment;
  sigset_t blocked_signals{};
};

std::optional<Start>& start() {
  static std::optional<Start> of_process;
  return of_process;
}

std::mutex successor_mutex;
std::vector<std::string>& successor() {
  static std::vector<std::string> arguments;
  return arguments;
}

/// The one that this process began with, and the devices that are to be left out.
std::vector<std::string> successors_environment(const std::string& failed) {
  const std::string prefix = std::string(codelets::kFailedDevices) + '=';
  std::vector<std::string> variables = start()->environment;
  std::erase_if(variables, [&](const std::string& each) { return each.starts_with(prefix); });
  const std::string earlier = environment(codelets::kFailedDevices);
  variables.push_back(prefix + (earlier.empty() ? failed : earlier + ';' + failed));
  return variables;
}

void hand_over(const codelets::DeviceFailure& failure) {
  const std::lock_guard lock(successor_mutex);
  if (successor().empty()) return;
  spdlog::warn("{} has failed ({}); going on without it, from the last checkpoint", failure.name,
               failure.what);
  spdlog::default_logger_raw()->flush();
  alarm(0);
  // Whatever drivers have opened would keep a device's memory.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  processors_at_start().use();
  pthread_sigmask(SIG_SETMASK, &start()->blocked_signals, nullptr);
  try {
    replace_process(successor(), successors_environment(failure.key));
  } catch (const RunError& error) {
    spdlog::error("{}", error.what());
  }
}

/// StarPU aborts where a copy to or from a device fails.
void when_aborted(int /*signal*/) {
  constexpr unsigned kSecondsForTheRest = 10;  // the process may have been holding any lock
  std::signal(SIGALRM, SIG_DFL);
  alarm(kSecondsForTheRest);
  std::signal(SIGABRT, SIG_DFL);
  if (const int worker = codelets::device_worker_here(); worker >= 0) {
    codelets::tell_device_failure(worker, "StarPU has given it up");
  }
  std::abort();
}

}  // namespace

void remember_start() {
  Start now;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    now.environment.emplace_back(*variable);
  }
  if (pthread_sigmask(SIG_SETMASK, nullptr, &now.blocked_signals) == 0) start() = std::move(now);
}

DeviceSuccession::DeviceSuccession(std::span<const std::string> arguments) {
  if (!start()) return;
  const std::lock_guard lock(successor_mutex);
  successor().assign(1, "/proc/self/exe");
  successor().insert(successor().end(), arguments.begin(), arguments.end());
  codelets::on_device_failure(hand_over);
  std::signal(SIGABRT, when_aborted);
}

DeviceSuccession::~DeviceSuccession() {
  std::signal(SIGABRT, SIG_DFL);
  const std::lock_guard lock(successor_mutex);
  successor().clear();
}

}  // namespace starpmc
