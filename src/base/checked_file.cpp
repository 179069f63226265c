#include "base/checked_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "kernels/base/error.hpp"

namespace starpmc {

void fail_with_errno(const std::filesystem::path& path, std::string_view action) {
  const std::string reason = errno == ELOOP ? "it is a symbolic link, which is not followed"
                                            : std::generic_category().message(errno);
  throw RunError(path.string() + ": " + std::string(action) + ": " + reason);
}

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
constexpr mode_t new_file_permissions = 0666;  // less the user's umask

/// @param kind O_DIRECTORY for a folder
void synchronise_path(const std::filesystem::path& path, int kind) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | kind);
  if (descriptor < 0) fail_with_errno(path, "cannot open");
  const bool done = fsync(descriptor) == 0 || errno == EINVAL ||
                    errno == EROFS;  // some file systems have no such call
  const int reason = errno;
  close(descriptor);
  errno = reason;
  if (!done) fail_with_errno(path, "cannot write to the disk");
}

/// A rename is safe from a power failure only once its folder is on the disk.
void synchronise_folder(const std::filesystem::path& folder) {
  synchronise_path(folder, O_DIRECTORY);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

void rename_or_fail(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) fail_with_errno(to, "cannot replace the file");
}

/// Puts `text` on the disk under a temporary name and lets `replace` move it from there.
template <typename Replace>
void write_and_replace(const std::filesystem::path& path, std::string_view text, Replace replace) {
  const std::filesystem::path temporary = temporary_path(path);
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);  // left by a process of the same number
  try {
    CheckedFile file(temporary, CheckedFile::Mode::create_new, path);
    file.write(text);
    file.synchronise();
    file.close();
    replace(temporary);
  } catch (const RunError&) {
    std::filesystem::remove(temporary, ignored);
    throw;
  }
}

/// A symbolic link is replaced, neither followed nor kept.
bool may_be_kept(const std::filesystem::path& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

/// Gives a file a second name.
/// @returns false if the file system cannot
bool link_file(const std::filesystem::path& path, const std::filesystem::path& second_name) {
  if (link(path.c_str(), second_name.c_str()) == 0) return true;
  const bool impossible =
      errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK;
  if (!impossible) fail_with_errno(path, "cannot keep the earlier file");
  return false;
}

}  // namespace

CheckedFile::CheckedFile(const std::filesystem::path& path, Mode mode,
                         const std::filesystem::path& name)
    : CheckedFile(name.empty() ? path : name) {
  int how = O_APPEND;
  if (mode == Mode::create_new) how = O_CREAT | O_EXCL | O_NOFOLLOW;
  // Without O_NONBLOCK a pipe of that name would be waited for; for regular files it means nothing.
  if (mode == Mode::append) how = O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | how, new_file_permissions);
  if (descriptor_ < 0) fail(mode == Mode::create_new ? "cannot create the file" : "cannot open");
  if (mode == Mode::append) written_ = size_of_regular_file();
}

CheckedFile CheckedFile::cut_back(const std::filesystem::path& path, std::uint64_t bytes) {
  CheckedFile file(path);
  file.descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  if (file.descriptor_ < 0) file.fail("cannot open");
  const std::uint64_t size = file.size_of_regular_file();
  if (size < bytes)
    throw RunError(
        fmt::format("{}: is shorter than the file that is to be continued: {} bytes "
                    "where there were {}\n  remedy: put the whole file back, or start "
                    "the run anew with --output.overwrite true",
                    path.string(), size, bytes));
  if (ftruncate(file.descriptor_, static_cast<off_t>(bytes)) != 0) file.fail("cannot shorten");
  file.written_ = bytes;
  return file;
}

std::uint64_t CheckedFile::size_of_regular_file() const {
  struct stat facts {};
  if (fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode))
    return static_cast<std::uint64_t>(facts.st_size);
  throw RunError(path_.string() + ": is not a regular file");
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
      written_(std::exchange(other.written_, 0)),
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
    written_ += static_cast<std::uint64_t>(written);
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

std::filesystem::path temporary_path(const std::filesystem::path& path) {
  return folder_of(path) / fmt::format(".{}.{}.temporary", path.filename().string(), getpid());
}

void rename_durably(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  rename_or_fail(temporary, path);
  synchronise_folder(folder_of(path));
}

void synchronise_file(const std::filesystem::path& path) { synchronise_path(path, O_NOFOLLOW); }

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  write_and_replace(path, text, [&](const auto& temporary) { rename_durably(temporary, path); });
}

// The file at `path` first gets a second, temporary name. Then the new file, already on the disk,
// takes the name `path`, and only when the disk knows that, the second name becomes `previous`. So
// at every instant, and after a power cut at every instant:
//   - before the first rename both files are as they were;
//   - between the two `path` is new and whole, `previous` as it was;
//   - after the second `path` is new and `previous` is what `path` was, whole or not.
// The other order (first `previous`, then `path`) would, where `path` had been damaged, replace the
// only whole file by the damaged one before the new one is in place. Where a file system knows no
// second names the order must be that one all the same.
void write_file_keeping_previous(const std::filesystem::path& path,
                                 const std::filesystem::path& previous, std::string_view text) {
  const std::filesystem::path kept = temporary_path(previous);
  std::error_code ignored;
  std::filesystem::remove(kept, ignored);
  write_and_replace(path, text, [&](const std::filesystem::path& temporary) {
    const bool keep = may_be_kept(path);
    const bool linked = keep && link_file(path, kept);
    try {
      if (keep && !linked) rename_durably(path, previous);
      rename_durably(temporary, path);
      if (linked) rename_durably(kept, previous);
    } catch (const RunError&) {
      std::filesystem::remove(kept, ignored);
      throw;
    }
  });
}

}  // namespace starpmc
