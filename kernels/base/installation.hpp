#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace starpmc {

/// Files that come with the program: kernels, workers, data, performance models.
struct InstalledFiles {
  const char*
      variable;  ///< environment variable that names their folder, and then no other is meant
  const char* installed;  ///< folder in share/starpmc of an installation
  const char* source;     ///< folder in the source tree
  const char* marker;     ///< something in the folder that tells it is the right one
};

/// Folders the files may be in, in the order of search: what was installed with the running
/// program, whatever became of the source tree; the source tree; the installation it was built for.
std::vector<std::filesystem::path> places_of(const InstalledFiles& files);

/// The first of them that has the marker; empty: none.
std::filesystem::path find_installed(const InstalledFiles& files);

/// The file `marker` itself, such as a script.
/// @param place of the message where it is not found: a subcommand or a key
/// @throws InputError
std::filesystem::path installed_file(const InstalledFiles& files, const std::string& place);

/// The folders searched, for a message.
std::string searched_places(const InstalledFiles& files);

/// This user's cache of starpmc: in XDG_CACHE_HOME or ~/.cache; empty where the environment has
/// neither as an absolute path.
std::filesystem::path user_cache_folder();

/// The same; where there is none, a private folder that goes with the process. (One of a fixed name
/// in /tmp could be another user's.)
/// @throws RunError where that cannot be made
std::filesystem::path cache_folder();

}  // namespace starpmc
