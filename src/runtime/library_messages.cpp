#include "runtime/library_messages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <sstream>
#include <string_view>

#include "base/environment.hpp"
#include "kernels/base/shown_text.hpp"

namespace starpmc {
namespace {

// For the signal handler.
volatile std::sig_atomic_t abort_from = -1;
volatile std::sig_atomic_t abort_to = -1;
void (*volatile handler_before)(int) = SIG_DFL;

/// Async-signal-safe.
void write_through(int to, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(to, bytes, size);
    if (count <= 0) return;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
}

extern "C" void show_and_abort(int number) {
  std::array<char, 4096> chunk;
  ::lseek(abort_from, 0, SEEK_SET);
  for (ssize_t count = 0; (count = ::read(abort_from, chunk.data(), chunk.size())) > 0;) {
    write_through(abort_to, chunk.data(), static_cast<std::size_t>(count));
  }
  ::dup2(abort_to, STDERR_FILENO);
  std::signal(number, SIG_DFL);
  if (handler_before != SIG_DFL && handler_before != SIG_IGN) handler_before(number);
  std::raise(number);
}

std::string everything_in(int file) {
  std::string text;
  std::array<char, 4096> chunk;
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t count = 0; (count = ::read(file, chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

bool is_from_library(const std::string& line) {
  const std::string_view text = line;
  const bool is_count = text.ends_with(" generated.") && text.find(" warning") != text.npos &&
                        text.find(" error") == text.npos;
  return is_count || text.starts_with("[starpu]");
}

LibraryMessages::LibraryMessages() {
  if (environment("STARPU_SILENT") == "0") return;
  terminal_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  kept_ = ::memfd_create("starpmc-messages", MFD_CLOEXEC);
  if (terminal_ < 0 || kept_ < 0) {
    restore();  // then they are seen
    return;
  }
  abort_from = kept_;
  abort_to = terminal_;
  handler_before = std::signal(SIGABRT, show_and_abort);
  ::dup2(kept_, STDERR_FILENO);
}

LibraryMessages::~LibraryMessages() { end(); }

void LibraryMessages::restore() {
  if (terminal_ >= 0 && kept_ >= 0) {
    ::dup2(terminal_, STDERR_FILENO);
    std::signal(SIGABRT, handler_before);
  }
  if (terminal_ >= 0) ::close(terminal_);
  if (kept_ >= 0) ::close(kept_);
  terminal_ = kept_ = -1;
}

std::vector<std::string> LibraryMessages::end() {
  std::vector<std::string> theirs;
  if (kept_ < 0) return theirs;
  ::dup2(terminal_, STDERR_FILENO);  // before the last look: nothing comes between
  const std::string text = everything_in(kept_);
  restore();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (is_from_library(line)) {
      theirs.push_back(shown_text(line));
    } else {
      line += '\n';
      write_through(STDERR_FILENO, line.data(), line.size());
    }
  }
  return theirs;
}

}  // namespace starpmc
