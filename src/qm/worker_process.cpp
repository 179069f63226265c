#include "qm/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "qm/errors.hpp"
#include "qm/spawn.hpp"

namespace starpmc {

namespace {

constexpr std::size_t read_chunk_bytes = 1 << 16;
constexpr std::chrono::milliseconds termination_grace{300};  ///< to remove temporary files in

/// A write to a worker that has gone must be an error of that write, not a signal that ends the
/// program; other threads and the program's own handler are left alone.
class BrokenPipeSignalBlocked {
 public:
  BrokenPipeSignalBlocked() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~BrokenPipeSignalBlocked() {
    if (!was_pending_) {
      const timespec no_time{};
      while (sigtimedwait(&broken_pipe_, nullptr, &no_time) == -1 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BrokenPipeSignalBlocked(const BrokenPipeSignalBlocked&) = delete;
  BrokenPipeSignalBlocked& operator=(const BrokenPipeSignalBlocked&) = delete;

 private:
  sigset_t broken_pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

void set_non_blocking(int descriptor) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

/// Where QM programs put their temporary files: they name the folder by these variables.
constexpr std::array scratch_variables = {"PYSCF_TMPDIR", "PSI_SCRATCH", "TMPDIR"};

/// A user who has set one of them for a QM program wants large files there.
std::filesystem::path scratch_start() {
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  for (const char* variable : scratch_variables) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    folder = value;
    break;
  }
  return std::filesystem::absolute(folder) / "starpmc-qm-";
}

void make_scratch_folder(std::optional<TemporaryFolder>& folder) {
  try {
    const std::filesystem::path start = scratch_start();
    TemporaryFolder::remove_abandoned(start);
    folder.emplace(start, "TMPDIR");
  } catch (const std::exception& error) {
    // Most calculations need no file: those that do will say so.
    spdlog::warn("the QM worker gets no folder of its own for temporary files: {}", error.what());
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command,
                             const std::vector<std::string>& environment,
                             std::shared_ptr<const CancelSignal> cancel)
    : cancel_(std::move(cancel)) {
  make_scratch_folder(folder_);
  std::vector<std::string> variables = environment;
  for (const char* variable : scratch_variables) {
    if (folder_) variables.push_back(fmt::format("{}={}", variable, folder_->path().string()));
  }
  Pipe errors = make_pipe();
  SpawnedProcess spawned = spawn_process(command, variables, errors.write_end.get());
  process_id_ = spawned.process_id;
  input_ = std::move(spawned.input);
  output_ = std::move(spawned.output);
  errors_ = std::move(errors.read_end);
  // A child of the worker may hold its pipes open. Old kernels have no such descriptor.
  ended_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, process_id_, 0)));
  for (const auto* descriptor : {&input_, &output_, &errors_}) set_non_blocking(descriptor->get());
}

WorkerProcess::~WorkerProcess() {
  input_.close();
  output_.close();
  if (reaped_) return;
  kill(-process_id_, SIGKILL);
  kill(process_id_, SIGKILL);
  waitpid(process_id_, nullptr, 0);
}

void WorkerProcess::end() {
  if (reaped_) return;
  kill(-process_id_, SIGTERM);
  wait_for_exit(termination_grace);
  kill(-process_id_, SIGKILL);
  reap(std::chrono::milliseconds(500));
}

void WorkerProcess::stop_if_cancelled() {
  if (!cancel_->raised()) return;
  end();
  throw Cancelled();
}

void WorkerProcess::wait_until_ready(int descriptor, short events, Deadline deadline) {
  using std::chrono::milliseconds;
  for (;;) {
    stop_if_cancelled();
    const auto left = std::chrono::ceil<milliseconds>(deadline - Deadline::clock::now());
    const auto bounded = std::clamp<long long>(left.count(), 0, 1'000'000'000);
    pollfd waited[4] = {{descriptor, events, 0},
                        {cancel_->descriptor(), POLLIN, 0},
                        {errors_.get(), POLLIN, 0},
                        {ended_.get(), POLLIN, 0}};
    const int ready = poll(waited, 4, static_cast<int>(bounded));
    if (ready < 0 && errno != EINTR) fail(fmt::format("poll: {}", std::strerror(errno)));
    if (ready > 0 && waited[2].revents != 0) read_log();
    if (ready > 0 && waited[0].revents != 0 && waited[1].revents == 0) return;
    if (ready > 0 && waited[3].revents != 0) fail_ended();
    if (Deadline::clock::now() >= deadline) {
      end();
      fail("no answer within the time limit (qm.time-limit)");
    }
  }
}

void WorkerProcess::write(std::span<const std::byte> bytes, Deadline deadline) {
  const BrokenPipeSignalBlocked no_signal;
  while (!bytes.empty()) {
    stop_if_cancelled();
    const ssize_t count = ::write(input_.get(), bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      wait_until_ready(input_.get(), POLLOUT, deadline);
    } else if (errno == EPIPE) {
      fail_ended();
    } else if (errno != EINTR) {
      fail(fmt::format("writing to it: {}", std::strerror(errno)));
    }
  }
}

void WorkerProcess::read(std::span<std::byte> bytes, Deadline deadline) {
  const std::size_t buffered = std::min(bytes.size(), buffer_.size() - buffer_used_);
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(buffer_used_), buffered, bytes.begin());
  buffer_used_ += buffered;
  bytes = bytes.subspan(buffered);
  while (!bytes.empty()) {
    stop_if_cancelled();
    const ssize_t count = ::read(output_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count == 0) {
      fail_ended();
    } else if (errno == EAGAIN) {
      wait_until_ready(output_.get(), POLLIN, deadline);
    } else if (errno != EINTR) {
      fail(fmt::format("reading from it: {}", std::strerror(errno)));
    }
  }
}

std::string WorkerProcess::read_line(std::size_t max_bytes, Deadline deadline) {
  std::string line;
  for (;;) {
    const auto from = buffer_.begin() + static_cast<std::ptrdiff_t>(buffer_used_);
    const auto end = std::find(from, buffer_.end(), std::byte{'\n'});
    std::transform(from, end, std::back_inserter(line),
                   [](std::byte value) { return static_cast<char>(value); });
    if (line.size() > max_bytes) fail("it answered with an endless line");
    if (end != buffer_.end()) {
      buffer_used_ = static_cast<std::size_t>(end - buffer_.begin()) + 1;
      return line;
    }
    // One byte by read() waits and reports; the rest of what is there comes in one piece.
    buffer_.assign(1, std::byte{});
    buffer_used_ = 1;
    std::byte first{};
    read({&first, 1}, deadline);
    buffer_.resize(read_chunk_bytes);
    buffer_[0] = first;
    const ssize_t more = ::read(output_.get(), buffer_.data() + 1, buffer_.size() - 1);
    buffer_.resize(1 + static_cast<std::size_t>(std::max<ssize_t>(more, 0)));
    buffer_used_ = 0;
  }
}

/// Leaves an ended process to be reaped.
bool WorkerProcess::wait_for_exit(std::chrono::milliseconds grace) const {
  return ends_before(process_id_, Deadline::clock::now() + grace);
}

bool WorkerProcess::reap(std::chrono::milliseconds grace) {
  if (!reaped_ && wait_for_exit(grace)) {
    // What is left of its group, while nobody else can have its number.
    kill(-process_id_, SIGKILL);
    waitpid(process_id_, &exit_status_, 0);
    reaped_ = true;
  }
  return reaped_;
}

void WorkerProcess::close_input_and_wait(std::chrono::milliseconds grace) {
  input_.close();
  reap(grace);
}

void WorkerProcess::fail_ended() {
  if (!reap(std::chrono::seconds(2))) fail("it closed its end of the pipe");
  if (WIFSIGNALED(exit_status_)) {
    const int number = WTERMSIG(exit_status_);
    throw WorkerKilled(
        with_last_lines(fmt::format("it was ended by signal {} ({})", number, strsignal(number))));
  }
  fail(fmt::format("it ended with exit status {}", WEXITSTATUS(exit_status_)));
}

/// What is in the pipe now: more than it holds at once only while the worker goes on writing.
void WorkerProcess::read_log() const {
  constexpr int most_chunks = 64;
  std::vector<char> chunk(read_chunk_bytes);
  for (int i = 0; i < most_chunks; ++i) {
    const ssize_t count = ::read(errors_.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errors_.close();
    if (count <= 0) return;
    log_.append({chunk.data(), static_cast<std::size_t>(count)});
  }
}

std::string WorkerProcess::log() const {
  read_log();
  return log_.text();
}

std::string WorkerProcess::with_last_lines(const std::string& problem) const {
  read_log();
  const std::string lines = log_.last_lines();
  return fmt::format("QM worker: {}{}", problem,
                     lines.empty() ? "; it left no lines on standard error"
                                   : fmt::format("; its last lines:\n{}", lines));
}

bool WorkerProcess::fit() const {
  return !reaped_ && !at_fault_ && !wait_for_exit(std::chrono::milliseconds(0));
}

void WorkerProcess::fail(const std::string& problem) const {
  at_fault_ = true;
  throw WorkerLost(with_last_lines(problem));
}

void WorkerProcess::report(const std::string& problem, const std::string& remedy) const {
  at_fault_ = true;
  throw RunError(with_last_lines(problem) + (remedy.empty() ? "" : "\nremedy: " + remedy));
}

}  // namespace starpmc
