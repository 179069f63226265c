#include "app/device_succession.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <starpu.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/device_failure.hpp"
#include "runtime/environment.hpp"

namespace starpmc {
namespace {

/// How this process began.
struct Start {
  std::vector<std::string> environment;
  std::vector<unsigned long> processors;  ///< a mask
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

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
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
  std::vector<std::string> words = successor();
  std::vector<std::string> variables = successors_environment(failure.key);
  const auto arguments = pointers(words);
  const auto environment = pointers(variables);
  alarm(0);
  // Whatever drivers have opened would keep a device's memory.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  sched_setaffinity(0, start()->processors.size() * sizeof(unsigned long),
                    reinterpret_cast<const cpu_set_t*>(start()->processors.data()));
  pthread_sigmask(SIG_SETMASK, &start()->blocked_signals, nullptr);
  execve("/proc/self/exe", arguments.data(), environment.data());
  spdlog::error("the program cannot be started anew: {}", std::strerror(errno));
}

/// StarPU aborts where a copy to or from a device fails.
void when_aborted(int /*signal*/) {
  constexpr unsigned kSecondsForTheRest = 10;  // the process may have been holding any lock
  std::signal(SIGALRM, SIG_DFL);
  alarm(kSecondsForTheRest);
  std::signal(SIGABRT, SIG_DFL);
  const int worker = starpu_worker_get_id();
  if (worker >= 0 && starpu_worker_get_type(worker) == STARPU_OPENCL_WORKER) {
    codelets::tell_device_failure(worker, "StarPU has given it up");
  }
  std::abort();
}

}  // namespace

void remember_start() {
  constexpr std::size_t kMostProcessors = 65536;
  Start now;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    now.environment.emplace_back(*variable);
  }
  now.processors.resize(kMostProcessors / (8 * sizeof(unsigned long)));
  const bool known = sched_getaffinity(0, now.processors.size() * sizeof(unsigned long),
                                       reinterpret_cast<cpu_set_t*>(now.processors.data())) == 0 &&
                     pthread_sigmask(SIG_SETMASK, nullptr, &now.blocked_signals) == 0;
  if (known) start() = std::move(now);
}

DeviceSuccession::DeviceSuccession(std::span<const std::string> arguments) {
  if (!start()) return;
  const std::lock_guard lock(successor_mutex);
  successor().assign(1, "starpmc");
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
