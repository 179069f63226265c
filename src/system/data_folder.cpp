#include "system/data_folder.hpp"

#include "kernels/base/error.hpp"
#include "kernels/base/installation.hpp"

namespace starpmc {
namespace {

std::filesystem::path find_or_throw(const InstalledFiles& files) {
  std::filesystem::path folder = find_installed(files);
  if (!folder.empty()) return folder;
  throw InputError(files.variable, "the program's data files are not found", searched_places(files),
                   std::string("set it to the folder with ") + files.marker + ", or unset it");
}

}  // namespace

std::filesystem::path data_folder() {
  return find_or_throw({"STARPMC_DATA", "data", "src/system/data", "opls_types.txt"});
}

std::filesystem::path configs_folder() {
  return find_or_throw({"STARPMC_CONFIGS", "configs", "configs", "chorismate.xyz"});
}

}  // namespace starpmc
