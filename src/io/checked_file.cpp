#include "io/checked_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "error.hpp"

namespace starpmc {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
constexpr mode_t new_file_permissions = 0666;  // less the user's umask

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, std::string_view action) {
  const std::string reason = std::generic_category().message(errno);
  throw RunError(path.string() + ": " + std::string(action) + ": " + reason);
}

/// A rename is safe from a power failure only once its folder is on the disk.
void synchronise_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_with_errno(folder, "cannot open the folder");
  const bool done =
      fsync(descriptor) == 0 || errno == EINVAL;  // some file systems have no such call
  const int reason = errno;
  close(descriptor);
  errno = reason;
  if (!done) fail_with_errno(folder, "cannot write the folder to the disk");
}

}  // namespace

CheckedFile::CheckedFile(const std::filesystem::path& path, Mode mode) : path_(path) {
  const int how = mode == Mode::create_new ? O_CREAT | O_EXCL | O_NOFOLLOW : O_APPEND;
  descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | how, new_file_permissions);
  if (descriptor_ < 0) fail(mode == Mode::create_new ? "cannot create the file" : "cannot open");
}

CheckedFile::~CheckedFile() {
  try {
    close();
  } catch (const RunError&) {
    // Already reported by an earlier write, or the caller did not care to close().
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

CheckedFile::CheckedFile(CheckedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)) {}

void CheckedFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= buffer_bytes) flush();
}

void CheckedFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      buffer_.erase(0, buffer_.size() - rest.size());  // a later attempt must not repeat lines
      errno = reason;
      fail("cannot write");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void CheckedFile::synchronise() {
  flush();
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
    fail("cannot write to the disk");
}

void CheckedFile::close() {
  if (descriptor_ < 0) return;
  flush();
  // Some file systems (NFS, quotas) report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail("cannot close");
}

void CheckedFile::fail(std::string_view action) const { fail_with_errno(path_, action); }

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::filesystem::path temporary =
      folder / fmt::format(".{}.{}.temporary", path.filename().string(), getpid());
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);  // left by a process of the same number
  try {
    CheckedFile file(temporary, CheckedFile::Mode::create_new);
    file.write(text);
    file.synchronise();
    file.close();
    if (rename(temporary.c_str(), path.c_str()) != 0)
      fail_with_errno(path, "cannot replace the file");
  } catch (const RunError&) {
    std::filesystem::remove(temporary, ignored);
    throw;
  }
  synchronise_folder(folder);
}

}  // namespace starpmc
