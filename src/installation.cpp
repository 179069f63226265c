#include "installation.hpp"

#include <cstdlib>

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

std::string searched_places(const InstalledFiles& files) {
  std::string text;
  for (const fs::path& place : places_of(files)) {
    text += (text.empty() ? "" : ", ") + place.string();
  }
  return text;
}

fs::path cache_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  const fs::path cache = variable("XDG_CACHE_HOME");
  if (!cache.empty()) return cache / "starpmc";
  const fs::path home = variable("HOME");
  return (home.empty() ? fs::path("/tmp") : home) / ".cache" / "starpmc";
}

}  // namespace starpmc
