#include "qm/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

// <linux/close_range.h> is newer than some C libraries this compiles with.
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

#include "base/processors.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {

namespace {

/// A program started with closed standard streams gets pipes numbered 0 to 2, which the child's
/// dup2() calls would overwrite.
FileDescriptor above_standard_streams(int descriptor) {
  FileDescriptor original(descriptor);
  if (descriptor > STDERR_FILENO) return original;
  return FileDescriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// By these an MPI library knows a process as a rank of a launcher's. A child is none: a Python
/// module that calls MPI_Init would fail or hang, for this process is that rank. Of Slurm's they
/// are those of a step's task; what the job has (SLURM_JOB_ID, SLURM_TMPDIR) stays.
constexpr std::array rank_variables = {
    "OMPI_",       "ORTE_",         "PRTE_",         "PMIX_",
    "PMI_",        "PMI2_",         "PALS_",         "HYDI_",
    "HYDRA_",      "MPI_LOCAL",     "MV2_COMM_",     "SLURM_STEP",
    "SLURM_PMI",   "SLURM_PROCID",  "SLURM_LOCALID", "SLURM_NODEID",
    "SLURM_GTIDS", "SLURM_NPROCS",  "SLURM_NTASKS",  "SLURM_TASK",
    "SLURM_SRUN_", "SLURM_LAUNCH_", "SLURM_MPI_",    "SLURM_DISTRIBUTION"};
/// They would bind a child's threads to cores that are this program's to give.
constexpr std::array binding_variables = {"OMP_PLACES=", "GOMP_CPU_AFFINITY=", "KMP_AFFINITY="};

bool is_for_children(const std::string& variable) {
  const auto begins = [&](const char* start) { return variable.starts_with(start); };
  return std::ranges::none_of(rank_variables, begins) &&
         std::ranges::none_of(binding_variables, begins);
}

/// The environment of this program, but for what is this process' own, with `additional` in front
/// of what they replace.
std::vector<std::string> merged_environment(const std::vector<std::string>& additional) {
  std::vector<std::string> merged = additional;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string variable(*entry);
    const std::string name = variable.substr(0, variable.find('=') + 1);
    const bool replaced = std::any_of(additional.begin(), additional.end(),
                                      [&](const auto& other) { return other.starts_with(name); });
    if (!replaced && is_for_children(variable)) merged.push_back(variable);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

/// Everything the child needs, prepared before fork(): between fork() and execve() of a program
/// with threads only async-signal-safe calls are allowed, so no allocation.
struct ChildPlan {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  ChildStreams streams;
  int death_signal;
  int report;  ///< gets errno if execve() fails
  pid_t parent;
};

/// Drops what arrived for this program's process group before setpgid(): a Ctrl-C in that moment.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) {
    signal(number, SIG_IGN);
    signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Called with all signals blocked.
[[noreturn]] void run_child(const ChildPlan& plan) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, plan.death_signal);
  if (getppid() != plan.parent) _exit(127);  // the parent died before prctl()
  processors_at_start().use();
  dup2(plan.streams.input, STDIN_FILENO);
  dup2(plan.streams.output, STDOUT_FILENO);
  dup2(plan.streams.error, STDERR_FILENO);
  // Files opened by libraries without close-on-exec are none of the worker's business.
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  reset_signals();
  execve(plan.arguments[0], plan.arguments.data(), plan.environment.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(plan.report, &error, sizeof(error));
  _exit(127);
}

/// @return errno of the child's execve(), 0 once it has succeeded
int exec_error(int descriptor) {
  int error = 0;
  ssize_t count = 0;
  do {
    count = read(descriptor, &error, sizeof(error));
  } while (count < 0 && errno == EINTR);
  return count == sizeof(error) ? error : 0;
}

}  // namespace

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw RunError(
        fmt::format("no pipe to a process that is to be started: {}", std::strerror(errno)));
  }
  return {above_standard_streams(ends[0]), above_standard_streams(ends[1])};
}

pid_t spawn_process(const std::vector<std::string>& command,
                    const std::vector<std::string>& environment, const ChildStreams& streams,
                    int death_signal) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = merged_environment(environment);
  Pipe report = make_pipe();
  const ChildPlan plan{pointers(arguments), pointers(variables),    streams,
                       death_signal,        report.write_end.get(), getpid()};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t process_id = fork();
  if (process_id == 0) run_child(plan);
  const int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (process_id < 0) throw RunError(std::strerror(fork_error));
  report.write_end.close();
  if (const int error = exec_error(report.read_end.get()); error != 0) {
    waitpid(process_id, nullptr, 0);
    throw RunError(fmt::format("{}: {}", command[0], std::strerror(error)));
  }
  return process_id;
}

SpawnedProcess spawn_process(const std::vector<std::string>& command,
                             const std::vector<std::string>& environment, int error_descriptor) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  const ChildStreams streams{input.read_end.get(), output.write_end.get(), error_descriptor};
  try {
    const pid_t process_id = spawn_process(command, environment, streams, SIGKILL);
    return {process_id, std::move(input.write_end), std::move(output.read_end)};
  } catch (const RunError& error) {
    throw RunError(fmt::format("cannot start the QM worker: {}", error.what()));
  }
}

int wait_for_end(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool has_ended(pid_t process) {
  siginfo_t ended{};
  const int result = waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
  return ended.si_pid == process || (result < 0 && errno == ECHILD);
}

bool ends_before(pid_t process, std::chrono::steady_clock::time_point deadline) {
  while (!has_ended(process)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace starpmc
