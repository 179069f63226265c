#include "system/data_folder.hpp"

#include "error.hpp"
#include "installation.hpp"

namespace starpmc {

std::filesystem::path data_folder() {
  constexpr InstalledFiles kFiles{"STARPMC_DATA", "data", "src/system/data", "opls_types.txt"};
  const std::filesystem::path folder = find_installed(kFiles);
  if (!folder.empty()) return folder;
  throw InputError("STARPMC_DATA", "the program's data files are not found",
                   searched_places(kFiles), "set it to the folder with opls_types.txt, or unset it");
}

}  // namespace starpmc
