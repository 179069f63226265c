#include "kernels/base/installation.hpp"

#include <cstdlib>

#include "kernels/base/error.hpp"
#include "kernels/base/temporary_folder.hpp"

namespace starpmc {

namespace fs = std::filesystem;

std::vector<fs::path> places_of(const InstalledFiles& files) {
  const char* const chosen = std::getenv(files.variable);
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<fs::path> places;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    places.push_back(program.parent_path().parent_path() / "share/starpmc" / files.installed);
  }
  places.push_back(fs::path(STARPMC_SOURCE_FOLDER) / files.source);
  places.push_back(fs::path(STARPMC_INSTALL_FOLDER) / "share/starpmc" / files.installed);
  return places;
}

fs::path find_installed(const InstalledFiles& files) {
  std::error_code error;
  for (const fs::path& place : places_of(files)) {
    if (fs::exists(place / files.marker, error)) return fs::absolute(place).lexically_normal();
  }
  return {};
}

fs::path installed_file(const InstalledFiles& files, const std::string& place) {
  const fs::path folder = find_installed(files);
  if (!folder.empty()) return folder / files.marker;
  throw InputError(
      place, std::string("no ") + files.marker + " in " + searched_places(files), "",
      std::string("install starpmc completely, or set ") + files.variable + " to its folder");
}

std::string searched_places(const InstalledFiles& files) {
  std::string text;
  for (const fs::path& place : places_of(files)) {
    text += (text.empty() ? "" : ", ") + place.string();
  }
  return text;
}

fs::path user_cache_folder() {
  // Relative paths are to be ignored (XDG Base Directory Specification).
  const auto folder_in = [](const char* name) -> fs::path {
    const char* const value = std::getenv(name);
    const fs::path path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : fs::path();
  };
  const fs::path cache = folder_in("XDG_CACHE_HOME");
  if (!cache.empty()) return cache / "starpmc";
  const fs::path home = folder_in("HOME");
  return home.empty() ? home : home / ".cache/starpmc";
}

fs::path cache_folder() {
  if (fs::path folder = user_cache_folder(); !folder.empty()) return folder;
  static const TemporaryFolder own(fs::temp_directory_path() / "starpmc-cache-", "TMPDIR");
  return own.path();
}

}  // namespace starpmc
