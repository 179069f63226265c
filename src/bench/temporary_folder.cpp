#include "bench/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "error.hpp"

namespace starpmc {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "starpmc-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw RunError(
        fmt::format("cannot make a folder in {}: {}; set TMPDIR to one that can be written",
                    fs::temp_directory_path().string(), std::strerror(errno)));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace starpmc
