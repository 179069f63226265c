#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "kernels/base/file_descriptor.hpp"

namespace starpmc {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Closed in programs that are started, and numbered above the standard streams.
/// @throws RunError when there is no descriptor left
Pipe make_pipe();

/// A process that has been started, and this program's ends of its pipes.
struct SpawnedProcess {
  pid_t process_id = -1;
  FileDescriptor input;   ///< write here what it reads
  FileDescriptor output;  ///< read here what it writes
};

/// A child's standard streams.
struct ChildStreams {
  int input;
  int output;
  int error;
};

/// Starts `command` (absolute path first) in a process group of its own, so that Ctrl-C reaches
/// this program only; with default signal handling, all other descriptors closed, the environment
/// without what makes this process a rank of MPI or binds its threads, the CPU affinity this
/// program was started with (the thread may be bound to one core by StarPU), and `death_signal`
/// when the starting thread ends (prctl(2), PR_SET_PDEATHSIG).
/// @throws RunError when it cannot be started
pid_t spawn_process(const std::vector<std::string>& command,
                    const std::vector<std::string>& environment, const ChildStreams& streams,
                    int death_signal);

/// A QM worker, the same way, with pipes to and from it, and SIGKILL as the signal.
/// @throws RunError when it cannot be started
SpawnedProcess spawn_process(const std::vector<std::string>& command,
                             const std::vector<std::string>& environment, int error_descriptor);

/// Waits for a child's end and reaps it. @return its status, as waitpid(2) tells it
int wait_for_end(pid_t process);
/// Whether a child has ended; leaves it to be reaped.
bool has_ended(pid_t process);
/// Waits for that until the deadline.
bool ends_before(pid_t process, std::chrono::steady_clock::time_point deadline);

}  // namespace starpmc
