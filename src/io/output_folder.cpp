#include "io/output_folder.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "error.hpp"

namespace starpmc {
namespace {

constexpr const char* lock_name = ".starpmc.lock";
constexpr std::array<std::string_view, 9> own_names = {
    "energies.csv", "trajectory.h5", "system.pdb",  "summary.json", "run.log",
    "settings.cfg", "checkpoint.h5", "report.html", "qm-worker.log"};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// grid-N.bin or grid-N-M.bin
bool is_grid_name(std::string_view name) {
  constexpr std::string_view start = "grid-";
  constexpr std::string_view end = ".bin";
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() < start.size() + end.size())
    return false;
  name.remove_prefix(start.size());
  name.remove_suffix(end.size());
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return is_digits(name);
  return is_digits(name.substr(0, dash)) && is_digits(name.substr(dash + 1));
}

bool is_result_name(std::string_view name) {
  return std::ranges::find(own_names, name) != own_names.end() || is_grid_name(name);
}

/// .NAME.PID.temporary, as write_file_atomically() names it.
bool is_temporary_name(std::string_view name) {
  constexpr std::string_view end = ".temporary";
  if (!name.starts_with('.') || !name.ends_with(end)) return false;
  name.remove_prefix(1);
  name.remove_suffix(end.size());
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && is_digits(name.substr(dot + 1)) &&
         is_result_name(name.substr(0, dot));
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& action) {
  throw RunError(path.string() + ": " + action + ": " + std::generic_category().message(errno));
}

bool same_file(int descriptor, int folder, const char* name) {
  struct stat open_file {};
  struct stat named_file {};
  return fstat(descriptor, &open_file) == 0 &&
         fstatat(folder, name, &named_file, AT_SYMLINK_NOFOLLOW) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

[[noreturn]] void refuse_file(const std::filesystem::path& folder) {
  throw InputError("output.folder", "is a file, not a folder", folder.string(),
                   "name another folder, or remove the file");
}

/// Names of an earlier run's files.
/// @throws InputError if there are any and `overwrite` is false
std::vector<std::string> earlier_files(const std::filesystem::path& folder, bool overwrite) {
  std::vector<std::string> earlier;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (OutputFolder::is_own_file(entry.path().filename().string()))
      earlier.push_back(entry.path().filename().string());
  if (!earlier.empty() && !overwrite) {
    const bool finished = std::ranges::find(earlier, "summary.json") != earlier.end();
    throw InputError("output.folder",
                     finished ? "holds the results of a finished run"
                              : "holds the files of an unfinished run (" + earlier.front() + ")",
                     folder.string(),
                     "choose another folder with --output.folder, or replace the results with "
                     "--output.overwrite true");
  }
  return earlier;
}

}  // namespace

OutputFolder::OutputFolder(const std::filesystem::path& folder, bool overwrite) : path_(folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  const bool is_folder = std::filesystem::is_directory(folder);
  if (!is_folder && std::filesystem::exists(folder)) refuse_file(folder);
  if (!is_folder)
    throw RunError(folder.string() + ": cannot create the output folder: " + failure.message());
  folder_descriptor_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_descriptor_ < 0) fail(folder, "cannot open the output folder");
  try {
    lock();
    clear(overwrite);
  } catch (...) {
    release();
    throw;
  }
}

OutputFolder::~OutputFolder() { release(); }

void OutputFolder::release() noexcept {
  if (lock_descriptor_ >= 0) {
    unlinkat(folder_descriptor_, lock_name, 0);
    close(lock_descriptor_);
  }
  if (folder_descriptor_ >= 0) close(folder_descriptor_);
}

void OutputFolder::lock() {
  for (;;) {
    const int descriptor =
        openat(folder_descriptor_, lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) fail(path_, "cannot write to the output folder");
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      close(descriptor);
      if (reason == EWOULDBLOCK)
        throw InputError("output.folder", "another run is writing to this folder", path_.string(),
                         "wait for it to end, or choose another folder with --output.folder");
      spdlog::warn("{}: the file system has no locks ({}); do not start a second run there",
                   path_.string(), std::generic_category().message(reason));
      return;
    }
    // The run that held the lock may have removed the file between our open and our lock.
    if (same_file(descriptor, folder_descriptor_, lock_name)) {
      lock_descriptor_ = descriptor;
      return;
    }
    close(descriptor);
  }
}

void OutputFolder::clear(bool overwrite) {
  for (const std::string& name : earlier_files(path_, overwrite))
    if (unlinkat(folder_descriptor_, name.c_str(), 0) != 0)
      fail(path_ / name, "cannot remove the file of an earlier run");
}

void OutputFolder::check(const std::filesystem::path& folder, bool overwrite) {
  if (!std::filesystem::exists(folder)) return;
  if (!std::filesystem::is_directory(folder)) refuse_file(folder);
  earlier_files(folder, overwrite);
}

std::filesystem::path OutputFolder::file(std::string_view name) const {
  if (!is_own_file(name))
    throw std::logic_error("OutputFolder::file: not a file of starpmc's: " + std::string(name));
  return path_ / name;
}

bool OutputFolder::is_own_file(std::string_view name) {
  return is_result_name(name) || is_temporary_name(name);
}

}  // namespace starpmc
