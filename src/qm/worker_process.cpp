#include "qm/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "error.hpp"
#include "qm/errors.hpp"
#include "qm/spawn.hpp"

namespace starpmc {

namespace {

constexpr std::size_t last_line_count = 20;
constexpr off_t last_lines_max_bytes = 8192;
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

FileDescriptor open_log(const std::filesystem::path& log_file) {
  const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC;
  FileDescriptor log(log_file.empty() ? memfd_create("starpmc-worker-log", MFD_CLOEXEC)
                                      : ::open(log_file.c_str(), flags, 0644));
  if (log.get() < 0) {
    throw RunError(fmt::format("cannot write the QM worker's log {}: {}", log_file.string(),
                               std::strerror(errno)));
  }
  return log;
}

void set_non_blocking(int descriptor) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command,
                             const std::vector<std::string>& environment,
                             const std::filesystem::path& log_file,
                             std::shared_ptr<const CancelSignal> cancel)
    : cancel_(std::move(cancel)), log_(open_log(log_file)), log_file_(log_file) {
  struct stat status {};
  if (fstat(log_.get(), &status) == 0) log_start_ = status.st_size;
  SpawnedProcess spawned = spawn_process(command, environment, log_.get());
  process_id_ = spawned.process_id;
  input_ = std::move(spawned.input);
  output_ = std::move(spawned.output);
  set_non_blocking(input_.get());
  set_non_blocking(output_.get());
}

WorkerProcess::~WorkerProcess() {
  input_.close();
  output_.close();
  if (!reaped_) {
    kill(-process_id_, SIGKILL);
    kill(process_id_, SIGKILL);
    waitpid(process_id_, nullptr, 0);
  }
}

void WorkerProcess::end() {
  if (reaped_) return;
  kill(-process_id_, SIGTERM);
  wait_for_exit(termination_grace);
  kill(-process_id_, SIGKILL);  // what is left of its group, while nobody else can have its number
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
    pollfd waited[2] = {{descriptor, events, 0}, {cancel_->descriptor(), POLLIN, 0}};
    const int ready = poll(waited, 2, static_cast<int>(bounded));
    if (ready > 0 && waited[1].revents == 0) return;
    if (ready < 0 && errno != EINTR) fail(fmt::format("poll: {}", std::strerror(errno)));
    if (ready == 0 && Deadline::clock::now() >= deadline) {
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
      fail(how_it_ended());
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
      fail(how_it_ended());
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
  const auto deadline = Deadline::clock::now() + grace;
  for (;;) {
    siginfo_t ended{};
    const int result =
        waitid(P_PID, static_cast<id_t>(process_id_), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == process_id_ || (result < 0 && errno == ECHILD)) return true;
    if (Deadline::clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

bool WorkerProcess::reap(std::chrono::milliseconds grace) {
  if (!reaped_ && wait_for_exit(grace)) {
    waitpid(process_id_, &exit_status_, 0);
    reaped_ = true;
  }
  return reaped_;
}

void WorkerProcess::close_input_and_wait(std::chrono::milliseconds grace) {
  input_.close();
  reap(grace);
}

std::string WorkerProcess::how_it_ended() {
  if (!reap(std::chrono::seconds(2))) return "it closed its end of the pipe";
  if (WIFSIGNALED(exit_status_)) {
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(exit_status_),
                       strsignal(WTERMSIG(exit_status_)));
  }
  return fmt::format("it ended with exit status {}", WEXITSTATUS(exit_status_));
}

std::string WorkerProcess::log_tail(off_t longest) const {
  struct stat status {};
  if (fstat(log_.get(), &status) != 0 || status.st_size <= log_start_) return {};
  const off_t from = std::max(log_start_, status.st_size - longest);
  std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
  const ssize_t count = pread(log_.get(), text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

std::string WorkerProcess::last_lines() const {
  std::string text = log_tail(last_lines_max_bytes);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t start = text.size();
  for (std::size_t line = 0; line < last_line_count && start > 0 && start != std::string::npos;
       ++line) {
    start = text.rfind('\n', start - 1);
  }
  return start == std::string::npos || start == 0 ? text : text.substr(start + 1);
}

std::string WorkerProcess::with_last_lines(const std::string& problem) const {
  const std::string lines = last_lines();
  std::string message = fmt::format("QM worker: {}", problem);
  if (!log_file_.empty()) message += fmt::format("; its log is {}", log_file_.string());
  message += lines.empty() ? "; it left no lines on standard error"
                           : fmt::format("; its last lines:\n{}", lines);
  return message;
}

void WorkerProcess::fail(const std::string& problem) const {
  throw WorkerLost(with_last_lines(problem));
}

void WorkerProcess::report(const std::string& problem, const std::string& remedy) const {
  throw RunError(with_last_lines(problem) + (remedy.empty() ? "" : "\nremedy: " + remedy));
}

}  // namespace starpmc
