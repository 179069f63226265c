#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/checked_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

constexpr const char* kName = ".starpmc.lock";

bool same_file(int descriptor, int folder, const char* name) {
  struct stat open_file {};
  struct stat named_file {};
  return fstat(descriptor, &open_file) == 0 &&
         fstatat(folder, name, &named_file, AT_SYMLINK_NOFOLLOW) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

[[noreturn]] void refuse_second_run(const std::filesystem::path& folder) {
  throw InputError("output.folder", "another run is writing to this folder", folder.string(),
                   "wait for it to end, or choose another folder with --output.folder");
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : folder_descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (folder_descriptor_ < 0) fail_with_errno(folder, "cannot open the output folder");
  try {
    lock(folder);
  } catch (...) {
    release();
    throw;
  }
}

FolderLock::~FolderLock() { release(); }

void FolderLock::release() noexcept {
  if (lock_descriptor_ >= 0) {
    unlinkat(folder_descriptor_, kName, 0);
    close(lock_descriptor_);
  }
  close(folder_descriptor_);
}

/// The lock is the folder's own, so that nothing is left of it when the process ends, however that
/// comes.
void FolderLock::lock(const std::filesystem::path& folder) {
  if (faccessat(folder_descriptor_, ".", W_OK | X_OK, AT_EACCESS) != 0)
    fail_with_errno(folder, "cannot write to the output folder");
  if (flock(folder_descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) refuse_second_run(folder);
  lock_file(folder);
}

/// For file systems that can lock files only, as NFS does.
void FolderLock::lock_file(const std::filesystem::path& folder) {
  for (;;) {
    const int descriptor =
        openat(folder_descriptor_, kName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) fail_with_errno(folder, "cannot write to the output folder");
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      close(descriptor);
      if (reason == EWOULDBLOCK) refuse_second_run(folder);
      spdlog::warn("{}: the file system has no locks ({}); do not start a second run there",
                   folder.string(), std::generic_category().message(reason));
      return;
    }
    // The run that held the lock may have removed the file between our open and our lock.
    if (same_file(descriptor, folder_descriptor_, kName)) {
      lock_descriptor_ = descriptor;
      return;
    }
    close(descriptor);
  }
}

}  // namespace starpmc
