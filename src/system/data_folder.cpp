#include "system/data_folder.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "error.hpp"

#ifndef STARPMC_SOURCE_FOLDER
#define STARPMC_SOURCE_FOLDER ""
#endif
#ifndef STARPMC_INSTALL_FOLDER
#define STARPMC_INSTALL_FOLDER ""
#endif

namespace starpmc {
namespace {

/// What belongs to the program lies beside what was installed, or in the source tree.
/// @param installed name under share/starpmc
/// @param source    name in the source tree
/// @param remedy    what to do where it is not found
std::filesystem::path find_folder(const std::string& installed, const std::string& source,
                                  const std::string& remedy) {
  std::error_code ignored;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  std::vector<std::filesystem::path> candidates;
  const std::string source_tree = STARPMC_SOURCE_FOLDER;
  const std::string prefix = STARPMC_INSTALL_FOLDER;
  // An installed program uses what was installed with it, whatever became of the source tree.
  candidates.push_back(executable.parent_path().parent_path() / "share/starpmc" / installed);
  if (!source_tree.empty()) candidates.emplace_back(source_tree + "/" + source);
  if (!prefix.empty()) candidates.emplace_back(prefix + "/share/starpmc/" + installed);
  std::string searched;
  for (const std::filesystem::path& candidate : candidates) {
    if (std::filesystem::is_directory(candidate, ignored)) return candidate;
    searched += (searched.empty() ? "" : ", ") + candidate.string();
  }
  throw InputError(installed + " folder", "the program's files are not found in " + searched, "",
                   remedy);
}

}  // namespace

std::filesystem::path data_folder() {
  std::error_code ignored;
  if (const char* chosen = std::getenv("STARPMC_DATA"); chosen != nullptr && *chosen != '\0') {
    if (!std::filesystem::is_directory(chosen, ignored)) {
      throw InputError("STARPMC_DATA", "there is no such folder", chosen,
                       "set it to the folder with opls_types.txt, or unset it");
    }
    return chosen;
  }
  return find_folder("data", "src/system/data",
                     "set STARPMC_DATA to the folder with opls_types.txt");
}

std::filesystem::path configs_folder() {
  return find_folder("configs", "configs", "install starpmc again, with its configs");
}

}  // namespace starpmc
