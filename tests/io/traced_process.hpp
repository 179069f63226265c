#pragma once

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>

namespace starpmc::test {

/// A number that a child process shares with its parent.
class SharedNumber {
 public:
  SharedNumber() {
    void* memory = mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    number_ = new (memory) std::atomic<std::uint64_t>(0);
  }
  ~SharedNumber() { munmap(number_, sizeof(*number_)); }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;

  void set(std::uint64_t value) { *number_ = value; }
  std::uint64_t get() const { return *number_; }

 private:
  std::atomic<std::uint64_t>* number_;
};

/// A pwrite() of a watched process, or, of no bytes, an fsync() or fdatasync().
struct WatchedWrite {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Runs `action` in a child process, stops it after each of its writes and has the parent call
/// `after_write(WatchedWrite)`: the files are as a kill at this instant would leave them.
/// @return the child's exit status (-1: ended by a signal); nothing where no process may be traced
template <typename Action, typename AfterWrite>
std::optional<int> watch_writes(Action action, AfterWrite after_write) {
  constexpr int not_traced = 125;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) std::_Exit(not_traced);
    raise(SIGSTOP);
    std::exit(action());
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return std::nullopt;
  constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  ptrace(PTRACE_SETOPTIONS, child, nullptr, options);
  std::optional<WatchedWrite> write;  // that the child is in
  for (long signal = 0;;) {
    ptrace(PTRACE_SYSCALL, child, nullptr, signal);
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) break;
    const bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    signal = at_call ? 0 : WSTOPSIG(status);
    if (!at_call) continue;
    __ptrace_syscall_info call{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(call), &call) <= 0) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return std::nullopt;  // before Linux 5.3
    }
    if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
      write.reset();
      const auto& [number, arguments] = call.entry;
      if (number == SYS_pwrite64) write = WatchedWrite{arguments[3], arguments[2]};
      if (number == SYS_fsync || number == SYS_fdatasync) write = WatchedWrite{};
    } else if (write) {
      after_write(*write);
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace starpmc::test
