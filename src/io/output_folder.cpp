#include "io/output_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/checked_file.hpp"
#include "base/input_file.hpp"
#include "io/file_names.hpp"
#include "io/recognised_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/file_descriptor.hpp"

namespace starpmc {
namespace {

[[noreturn]] void refuse_file(const std::filesystem::path& folder) {
  throw InputError("output.folder", "is a file, not a folder", folder.string(),
                   "name another folder, or remove the file");
}

[[noreturn]] void refuse_to_remove(const InputPath& input, const std::filesystem::path& file) {
  throw InputError(
      input.option, "is read by this run, and is among what --output.overwrite true would remove",
      file.string(),
      "choose another folder with --output.folder, or name a copy that lies elsewhere; "
      "nothing has been changed");
}

bool exists_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

/// Neither the folder nor one above it can be made where a link that leads nowhere has its name.
void refuse_dangling_link(const std::filesystem::path& folder) {
  std::filesystem::path above = std::filesystem::absolute(folder);
  while (!exists_there(above) && above.has_relative_path()) above = above.parent_path();
  std::error_code failure;
  if (std::filesystem::exists(above, failure)) return;
  if (failure && failure != std::errc::too_many_symbolic_link_levels) return;
  throw InputError("output.folder", "is, or lies below, a symbolic link that leads nowhere",
                   above.string(),
                   "make the folder that the link names, remove the link, or choose another folder "
                   "with --output.folder");
}

/// What lies in a folder: empty for one that is not there.
/// @throws RunError if it cannot be listed
std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder) {
  std::error_code failure;
  std::vector<std::filesystem::directory_entry> entries;
  for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure))
    entries.push_back(*entry);
  if (failure && failure != std::errc::no_such_file_or_directory)
    throw RunError(folder.string() + ": cannot list the folder: " + failure.message());
  return entries;
}

/// The chains' folders, and the symbolic links in place of them, by name.
std::vector<std::filesystem::directory_entry> chain_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::directory_entry> chains = entries_of(folder);
  std::erase_if(chains, [](const auto& entry) {
    std::error_code ignored;
    const auto kind = entry.symlink_status(ignored).type();
    const bool can_be = kind == std::filesystem::file_type::directory ||
                        kind == std::filesystem::file_type::symlink;
    return !can_be || !is_chain_folder_name(entry.path().filename().string());
  });
  return chains;
}

/// Own files in the folder and in its chains' folders, and symbolic links in place of the latter,
/// as paths below the folder.
std::vector<std::filesystem::path> own_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : entries_of(folder))
    if (OutputFolder::is_own_file(entry.path().filename().string()))
      found.push_back(entry.path().filename());
  for (const auto& chain : chain_entries(folder)) {
    const std::filesystem::path name = chain.path().filename();
    if (chain.is_symlink()) {
      found.push_back(name);
      continue;
    }
    for (const auto& entry : entries_of(chain.path()))
      if (OutputFolder::is_own_file(entry.path().filename().string()))
        found.push_back(name / entry.path().filename());
  }
  return found;
}

/// What nothing but its place tells to be a run's: other programs write files of that name, too.
bool may_be_another_programs(const std::filesystem::path& path) {
  return path.filename() == "trajectory.xtc" || path.filename() == "qm-worker.log";
}

/// Of the files that are removed, those by which a run is known go first and last: one that is
/// killed while it removes them must not leave what looks like a run to resume, or a finished
/// one, nor files that nobody knows for a run's.
int place_in_removal(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (name.starts_with("checkpoint")) return 0;
  if (name == summary_name) return 1;
  return name == settings_name ? 3 : 2;
}

/// A folder cannot be replaced by a file, and may hold what is the user's.
void refuse_folders(const std::filesystem::path& folder,
                    const std::vector<std::filesystem::path>& own_files_below) {
  for (const std::filesystem::path& path : own_files_below) {
    std::error_code ignored;
    const auto status = std::filesystem::symlink_status(folder / path, ignored);
    if (!std::filesystem::is_directory(status)) continue;
    throw InputError("output.folder", "holds a folder that has the name of a run's file",
                     (folder / path).string(),
                     "move it away, or choose another folder with --output.folder; nothing has "
                     "been changed");
  }
}

/// An earlier run's files, in the order in which they are to be removed.
/// @throws InputError if there are any and `overwrite` is false, or one does not look like a run's
/// or is a folder
std::vector<std::filesystem::path> earlier_files(const std::filesystem::path& folder,
                                                 bool overwrite) {
  // With a run beside its images a profile could not be gone on with.
  if (exists_there(folder / profile_topology_name))
    throw InputError("output.folder", "holds a profile, not a run", folder.string(),
                     "choose another folder with --output.folder");
  std::vector<std::filesystem::path> earlier = own_files(folder);
  refuse_folders(folder, earlier);
  if (!earlier.empty() && !overwrite) {
    const bool finished = std::ranges::find(earlier, summary_name) != earlier.end();
    throw InputError(
        "output.folder",
        finished ? "holds the results of a finished run"
                 : "holds the files of an unfinished run (" + earlier.front().string() + ")",
        folder.string(),
        std::string(finished ? "" : "go on with it (starpmc resume FOLDER), ") +
            "choose another folder with --output.folder, or replace the results with "
            "--output.overwrite true");
  }
  const bool is_run = std::ranges::find(earlier, settings_name) != earlier.end();
  for (const std::filesystem::path& path : earlier) {
    const bool looks_right = looks_like_a_runs(folder / path);
    if (looks_right && (is_run || !may_be_another_programs(path))) continue;
    throw InputError(
        "output.folder",
        looks_right ? "holds a file that another program may have written, as there is no "
                      "settings.cfg of a run beside it, and is not removed"
                    : "holds a file that has the name of a run's but is not one, and is not "
                      "removed",
        (folder / path).string(),
        "move it away, or choose another folder with --output.folder; nothing has been "
        "changed");
  }
  std::ranges::stable_sort(earlier, {}, place_in_removal);
  return earlier;
}

/// @throws InputError if the folder does not hold such a run
void require_run(const std::filesystem::path& folder, RunState state) {
  const std::string place = folder.string();
  if (!std::filesystem::exists(folder))
    throw InputError(place, "there is no such folder", "",
                     "name the output folder of a run that was interrupted");
  if (!std::filesystem::is_directory(folder))
    throw InputError(place, "is a file, not a folder", "",
                     "name the output folder of a run that was interrupted");
  if (state == RunState::unfinished && exists_there(folder / summary_name))
    throw InputError(
        place, "holds the results of a finished run", summary_name,
        "nothing is left to do; for more steps, N of production in all: starpmc resume "
        "FOLDER --steps N; for another run choose another folder with "
        "--output.folder");
  if (!exists_there(folder / settings_name) && exists_there(folder / profile_topology_name))
    throw InputError(place, "holds a profile, not a run", "",
                     "go on with it: starpmc profile " + (folder / profile_settings_name).string() +
                         " --output.folder " + place);
  if (!exists_there(folder / settings_name))
    throw InputError(
        place, std::string("is not the output folder of a run: it has no ") + settings_name, "",
        "name the output folder of a run that was interrupted, or start the run anew");
}

/// Of a folder below another one, reached through no symbolic link; negative: there is none.
FileDescriptor open_subfolder(int parent, const std::filesystem::path& name) {
  return FileDescriptor(
      openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::filesystem::path own_path(const std::filesystem::path& folder, std::string_view name) {
  if (!OutputFolder::is_own_file(name))
    throw std::logic_error("OutputFolder::file: not a file of starpmc's: " + std::string(name));
  return folder / name;
}

}  // namespace

RunError cannot_create_output_folder(const std::filesystem::path& folder,
                                     const std::error_code& failure) {
  return RunError(folder.string() + ": cannot create the output folder: " + failure.message() +
                  "\n  remedy: choose another one with --output.folder, or see to it that this "
                  "one can be made");
}

OutputFolder::OutputFolder(const std::filesystem::path& folder, bool overwrite)
    : OutputFolder(folder) {
  refuse_dangling_link(folder);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  const bool is_folder = std::filesystem::is_directory(folder);
  if (!is_folder && std::filesystem::exists(folder)) refuse_file(folder);
  if (!is_folder) throw cannot_create_output_folder(folder, failure);
  lock_.emplace(path_);
  clear(overwrite);
}

OutputFolder OutputFolder::resume(const std::filesystem::path& folder, RunState state) {
  require_run(folder, state);
  return {folder, state};
}

OutputFolder::OutputFolder(const std::filesystem::path& folder, RunState state)
    : OutputFolder(folder) {
  lock_.emplace(path_);
  // The run may have been alive until now.
  require_run(folder, state);
}

void OutputFolder::remove_temporary_files() const {
  std::vector<std::filesystem::path> left_over = own_files(path_);
  std::erase_if(left_over, [](const std::filesystem::path& path) {
    return !is_temporary_name(path.filename().string());
  });
  remove(left_over);
}

void OutputFolder::clear(bool overwrite) {
  remove(earlier_files(path_, overwrite));
  if (overwrite) remove_empty_chain_folders();
}

void OutputFolder::remove(const std::vector<std::filesystem::path>& own_files_below) const {
  for (const std::filesystem::path& path : own_files_below) {
    const bool in_chain = path.has_parent_path();
    const FileDescriptor chain =
        open_subfolder(lock_->descriptor(), in_chain ? path.parent_path() : ".");
    if (chain.get() < 0 || unlinkat(chain.get(), path.filename().c_str(), 0) != 0)
      fail_with_errno(path_ / path, "cannot remove the file of an earlier run");
  }
}

void OutputFolder::remove_empty_chain_folders() const {
  for (const auto& chain : chain_entries(path_))
    if (unlinkat(lock_->descriptor(), chain.path().filename().c_str(), AT_REMOVEDIR) != 0 &&
        errno != ENOTEMPTY && errno != EEXIST)
      fail_with_errno(chain.path(), "cannot remove the folder of an earlier run");
}

void OutputFolder::check(const std::filesystem::path& folder, bool overwrite,
                         std::span<const InputPath> inputs) {
  refuse_dangling_link(folder);
  if (!std::filesystem::exists(folder)) return;
  if (!std::filesystem::is_directory(folder)) refuse_file(folder);
  const std::vector<std::filesystem::path> removed = earlier_files(folder, overwrite);
  for (const InputPath& input : inputs) {
    // Of a run's folder, the trajectory is read, too.
    const bool is_run = std::filesystem::is_directory(input.path);
    const std::filesystem::path read = is_run ? input.path / "trajectory.h5md" : input.path;
    for (const std::filesystem::path& file : removed)
      if (is_found_by(read, folder / file)) refuse_to_remove(input, folder / file);
  }
}

std::filesystem::path set_aside(const std::filesystem::path& path) {
  if (!exists_there(path)) return {};
  std::filesystem::path aside;
  for (unsigned number = 1; aside.empty() || exists_there(aside); ++number)
    aside = path.string() + ".aside-" + std::to_string(number);
  rename_durably(path, aside);
  return aside;
}

std::filesystem::path OutputFolder::file(std::string_view name) const {
  return own_path(path_, name);
}

std::filesystem::path ChainFolder::file(std::string_view name) const {
  return own_path(path_, name);
}

std::string OutputFolder::chain_name(unsigned chain) { return "chain-" + std::to_string(chain); }

std::vector<std::filesystem::path> OutputFolder::chain_folders_of(
    const std::filesystem::path& run) {
  std::vector<std::filesystem::path> folders;
  for (unsigned chain = 0;; ++chain) {
    std::filesystem::path folder = run / chain_name(chain);
    if (!std::filesystem::is_directory(folder)) break;
    folders.push_back(std::move(folder));
  }
  if (folders.empty()) folders.push_back(run);
  return folders;
}

std::filesystem::path OutputFolder::chain_folder(unsigned chain) const {
  const std::string name = chain_name(chain);
  constexpr mode_t new_folder_permissions = 0777;  // less the user's umask
  if (mkdirat(lock_->descriptor(), name.c_str(), new_folder_permissions) != 0 && errno != EEXIST)
    fail_with_errno(path_ / name, "cannot create the folder of a chain");
  const FileDescriptor folder = open_subfolder(lock_->descriptor(), name);
  if (folder.get() < 0 && (errno == ENOTDIR || errno == ELOOP))
    throw RunError((path_ / name).string() +
                   ": is not a folder (a symbolic link is not followed)\n  remedy: remove it, or "
                   "choose another folder with --output.folder");
  if (folder.get() < 0) fail_with_errno(path_ / name, "cannot open the folder of a chain");
  // A checkpoint in a folder whose name a power cut takes away would be lost with it.
  if (fsync(lock_->descriptor()) != 0 && errno != EINVAL)
    fail_with_errno(path_, "cannot write the folder to the disk");
  return path_ / name;
}

bool OutputFolder::is_own_file(std::string_view name) {
  return is_result_name(name) || is_temporary_name(name);
}

}  // namespace starpmc
