#include "bench/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "error.hpp"

namespace starpmc {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder()
    : TemporaryFolder(fs::temp_directory_path() / "starpmc-bench-", "TMPDIR") {}

TemporaryFolder::TemporaryFolder(const fs::path& start, std::string_view variable) {
  std::error_code ignored;  // then the folder cannot be made, either
  fs::create_directories(start.parent_path(), ignored);
  std::string name = start.string() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw RunError(fmt::format("cannot make a folder in {}: {}; set {} to one that can be written",
                               start.parent_path().string(), std::strerror(errno), variable));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace starpmc
