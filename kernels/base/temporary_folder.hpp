#pragma once

#include <filesystem>
#include <string_view>

namespace starpmc {

/// A folder that goes with the object.
class TemporaryFolder {
 public:
  /// In the system's temporary folder.
  /// @throws RunError when it cannot be made
  TemporaryFolder();
  /// @param start    its path but for the last letters; folders above it are made, and stay
  /// @param variable of the environment, which says where: what the error names as the remedy
  /// @throws RunError when it cannot be made
  TemporaryFolder(const std::filesystem::path& start, std::string_view variable);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  /// Removes this user's folders of that start whose process has ended without doing so (kill -9).
  /// Living processes hold locks on theirs.
  static void remove_abandoned(const std::filesystem::path& start);

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace starpmc
