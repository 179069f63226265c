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

/// Devices that did not start and are given a second chance: others may have filled them for a
/// moment.
constexpr const char* kTriedAgain = "STARPMC_DEVICES_TRIED_AGAIN";

/// The one that this process began with, and a device more in a variable's list.
std::vector<std::string> successors_environment(const char* list, const std::string& device) {
  std::vector<std::string> variables = start()->environment;
  for (const char* name : {codelets::kFailedDevices, kTriedAgain}) {
    const std::string prefix = std::string(name) + '=';
    std::erase_if(variables, [&](const std::string& each) { return each.starts_with(prefix); });
    std::string devices = environment(name);
    if (name == list) devices += (devices.empty() ? "" : ";") + device;
    if (!devices.empty()) variables.push_back(prefix + devices);
  }
  return variables;
}

void hand_over(const codelets::DeviceFailure& failure) {
  const std::lock_guard lock(successor_mutex);
  // StarPU opens a device that gets no work, too: one that never starts ends the program.
  if (successor().empty() || codelets::names_device(codelets::kFailedDevices, failure.key)) return;
  const bool again = failure.at_start && !codelets::names_device(kTriedAgain, failure.key);
  spdlog::warn("{} {} ({}); going on {} it, from the last checkpoint", failure.name,
               failure.at_start ? "does not start" : "has failed", failure.what,
               again ? "with another try of" : "without");
  spdlog::default_logger_raw()->flush();
  alarm(0);
  // Whatever drivers have opened would keep a device's memory.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  processors_at_start().use();
  pthread_sigmask(SIG_SETMASK, &start()->blocked_signals, nullptr);
  try {
    replace_process(successor(), successors_environment(
                                     again ? kTriedAgain : codelets::kFailedDevices, failure.key));
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
