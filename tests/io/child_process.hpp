#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace starpmc::test {

/// Runs `action` in a child process and returns its exit status (-1: ended by a signal), so that
/// limits on a process can be tried without hurting the test program.
template <typename Action>
int exit_status_of(Action action) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) std::exit(action());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Lets no file of this process grow beyond `bytes`: writes fail as on a full disk (EFBIG).
inline void limit_file_size(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace starpmc::test
