#pragma once

#include <filesystem>

namespace starpmc {

/// A folder that one process writes to, locked against a second one for as long as the object
/// lives.
class FolderLock {
 public:
  /// @throws InputError if another process has it; RunError if it is not there, or not writable
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Of the folder.
  int descriptor() const { return folder_descriptor_; }

 private:
  void lock(const std::filesystem::path& folder);
  void lock_file(const std::filesystem::path& folder);
  void release() noexcept;

  int folder_descriptor_ = -1;
  int lock_descriptor_ = -1;
};

}  // namespace starpmc
