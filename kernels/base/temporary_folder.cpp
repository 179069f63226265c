#include "kernels/base/temporary_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kLetters = "XXXXXX";
/// The time between the making of a folder and its lock is far below that.
constexpr std::time_t kYoungSeconds = 60;

int open_folder(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool is_abandoned(const fs::path& path) {
  const int folder = open_folder(path);
  if (folder < 0) return false;
  struct stat status {};
  const bool abandoned = ::fstat(folder, &status) == 0 && status.st_uid == ::geteuid() &&
                         std::time(nullptr) - status.st_mtime > kYoungSeconds &&
                         ::flock(folder, LOCK_EX | LOCK_NB) == 0;
  ::close(folder);
  return abandoned;
}

}  // namespace

TemporaryFolder::TemporaryFolder()
    : TemporaryFolder(fs::temp_directory_path() / "starpmc-bench-", "TMPDIR") {}

TemporaryFolder::TemporaryFolder(const fs::path& start, std::string_view variable) {
  std::error_code ignored;  // then the folder cannot be made, either
  fs::create_directories(start.parent_path(), ignored);
  std::string name = start.string();
  name += kLetters;
  if (mkdtemp(name.data()) == nullptr) {
    throw RunError(fmt::format("cannot make a folder in {}: {}; set {} to one that can be written",
                               start.parent_path().string(), std::strerror(errno), variable));
  }
  path_ = name;
  lock_ = open_folder(path_);
  if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void TemporaryFolder::remove_abandoned(const fs::path& start) {
  const std::string prefix = start.filename().string();
  std::vector<fs::path> found;
  std::error_code error;
  for (auto entry = fs::directory_iterator(start.parent_path(), error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && name.size() == prefix.size() + kLetters.size()) {
      found.push_back(entry->path());
    }
  }
  for (const fs::path& path : found) {
    if (is_abandoned(path)) fs::remove_all(path, error);
  }
}

}  // namespace starpmc
