#include "qm/find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace starpmc {

std::optional<std::filesystem::path> find_program(const std::filesystem::path& program) {
  if (program.has_parent_path()) {
    if (access(program.c_str(), X_OK) != 0 || std::filesystem::is_directory(program)) {
      return std::nullopt;
    }
    return std::filesystem::absolute(program);
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    if (auto found = find_program(std::filesystem::path(folder) / program)) return found;
  }
  return std::nullopt;
}

}  // namespace starpmc
