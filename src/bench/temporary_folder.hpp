#pragma once

#include <filesystem>

namespace starpmc {

/// A folder in the system's temporary one that goes with the object.
class TemporaryFolder {
 public:
  /// @throws RunError when it cannot be made
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace starpmc
