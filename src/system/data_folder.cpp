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

std::filesystem::path data_folder() {
  std::error_code ignored;
  if (const char* chosen = std::getenv("STARPMC_DATA"); chosen != nullptr && *chosen != '\0') {
    if (!std::filesystem::is_directory(chosen, ignored)) {
      throw InputError("STARPMC_DATA", "there is no such folder", chosen,
                       "set it to the folder with opls_types.txt, or unset it");
    }
    return chosen;
  }
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  std::vector<std::filesystem::path> candidates;
  const std::string source = STARPMC_SOURCE_FOLDER;
  const std::string installed = STARPMC_INSTALL_FOLDER;
  // An installed program uses what was installed with it, whatever became of the source tree.
  candidates.push_back(executable.parent_path().parent_path() / "share/starpmc/data");
  if (!source.empty()) candidates.push_back(source + "/src/system/data");
  if (!installed.empty()) candidates.push_back(installed + "/share/starpmc/data");
  std::string searched;
  for (const std::filesystem::path& candidate : candidates) {
    if (std::filesystem::is_directory(candidate, ignored)) {
      return candidate;
    }
    searched += (searched.empty() ? "" : ", ") + candidate.string();
  }
  throw InputError("data folder", "the program's data files are not found in " + searched, "",
                   "set STARPMC_DATA to the folder with opls_types.txt");
}

}  // namespace starpmc
