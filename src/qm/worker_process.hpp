#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/file_descriptor.hpp"
#include "kernels/base/temporary_folder.hpp"
#include "qm/cancel_signal.hpp"
#include "qm/worker_log.hpp"

namespace starpmc {

/// A child process spoken to over its standard input and output. What it says on standard error is
/// read while it is waited for, into a log of bounded size; between two questions a flood has to
/// wait. It dies with this object, with all processes that it has started and not put into groups
/// of their own, and with this program however that ends. Its temporary files lie in a folder that
/// goes with it. The kernel ties a child to the thread that starts it: start workers from a thread
/// that lives as long as they shall. A chain's own thread does, and so does a StarPU worker, which
/// ends in starpu_shutdown() only.
class WorkerProcess {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// @param command     program (absolute path) and its arguments; no shell is involved
  /// @param environment "NAME=value" on top of this program's environment
  /// @param cancel      ends every wait for the worker
  /// @throws RunError when the process cannot be started
  WorkerProcess(const std::vector<std::string>& command,
                const std::vector<std::string>& environment,
                std::shared_ptr<const CancelSignal> cancel);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Kills what is still running and reaps it.
  ~WorkerProcess();

  /// All throw WorkerLost, with the worker's last lines, when it ends (WorkerKilled: by a signal)
  /// or the deadline passes, and Cancelled, with the worker ended, once `cancel` is raised.
  void write(std::span<const std::byte> bytes, Deadline deadline);
  void read(std::span<std::byte> bytes, Deadline deadline);
  /// Up to and without '\n'. @throws WorkerLost also beyond `max_bytes`
  std::string read_line(std::size_t max_bytes, Deadline deadline);

  /// Closes the worker's input and gives it `grace` to leave on its own.
  void close_input_and_wait(std::chrono::milliseconds grace);

  /// For what the worker did wrong. @throws WorkerLost with `problem` and its last lines
  [[noreturn]] void fail(const std::string& problem) const;
  /// For what the worker said itself. @throws RunError with `problem`, its last lines and `remedy`
  [[noreturn]] void report(const std::string& problem, const std::string& remedy = {}) const;
  pid_t process_id() const { return process_id_; }
  /// Whether it runs, and nobody has found fault with it.
  bool fit() const;
  /// From here on this one ends every wait.
  void heed(std::shared_ptr<const CancelSignal> cancel) { cancel_ = std::move(cancel); }

  /// Standard error so far, its end at most; fit to be shown.
  std::string log() const;

 private:
  void read_log() const;
  void wait_until_ready(int descriptor, short events, Deadline deadline);
  void stop_if_cancelled();
  [[noreturn]] void fail_ended();
  /// SIGTERM to the worker's process group, and SIGKILL to what outlives it.
  void end();
  bool wait_for_exit(std::chrono::milliseconds grace) const;
  bool reap(std::chrono::milliseconds grace);
  std::string with_last_lines(const std::string& problem) const;

  std::shared_ptr<const CancelSignal> cancel_;
  std::optional<TemporaryFolder> folder_;  ///< none: it could not be made
  FileDescriptor input_;
  FileDescriptor output_;
  mutable FileDescriptor errors_;
  FileDescriptor ended_;  ///< readable once the process has ended
  mutable WorkerLog log_;
  std::vector<std::byte> buffer_;  ///< read from the worker, not yet asked for
  std::size_t buffer_used_ = 0;
  pid_t process_id_ = -1;
  bool reaped_ = false;
  mutable bool at_fault_ = false;
  int exit_status_ = 0;
};

}  // namespace starpmc
