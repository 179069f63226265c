#include "system/gromacs_data.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "kernels/base/error.hpp"

namespace starpmc {

std::vector<std::filesystem::path> gromacs_folders() {
  std::vector<std::filesystem::path> wanted;
  if (const char* list = std::getenv("GMXLIB")) {
    std::istringstream stream(list);
    for (std::string folder; std::getline(stream, folder, ':');) {
      wanted.emplace_back(folder);
    }
  }
  if (const char* data = std::getenv("GMXDATA")) {
    wanted.emplace_back(std::filesystem::path(data) / "top");
  }
  if (const char* conda = std::getenv("CONDA_PREFIX")) {
    wanted.emplace_back(std::filesystem::path(conda) / "share/gromacs/top");
  }
  for (const char* prefix : {"/usr/share", "/usr/local/share", "/usr/local/gromacs/share"}) {
    wanted.emplace_back(std::filesystem::path(prefix) / "gromacs/top");
  }
  std::vector<std::filesystem::path> found;
  for (std::filesystem::path& folder : wanted) {
    std::error_code ignored;
    if (!folder.empty() && std::filesystem::is_directory(folder, ignored)) {
      found.push_back(std::move(folder));
    }
  }
  return found;
}

std::filesystem::path find_gromacs_file(std::string_view name) {
  std::string searched;
  for (const std::filesystem::path& folder : gromacs_folders()) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / name, ignored)) {
      return folder / name;
    }
    searched += (searched.empty() ? "" : ", ") + folder.string();
  }
  throw InputError(name, "not found among GROMACS's data",
                   searched.empty() ? "no folder of GROMACS" : "searched " + searched,
                   gromacs_data_remedy);
}

}  // namespace starpmc
