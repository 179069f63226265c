#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/file_descriptor.hpp"

namespace starpmc {

/// Compiled programs in a folder of the user, one file each, found by all that they were made from.
///
/// A file is taken only if it and the folder belong to the user and nobody else may write to them,
/// if it was written for exactly this key, and if its checksum is right; anything else counts as
/// absent and is written anew. Nothing here throws for what the disk does: a cache that cannot be
/// used is none, and why goes to the log at level debug.
class BinaryCache {
 public:
  explicit BinaryCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// $XDG_CACHE_HOME/starpmc/kernels, or ~/.cache/starpmc/kernels; empty where the environment has
  /// neither.
  static std::optional<BinaryCache> of_user();

  /// @param key everything the binary depends on, the whole source text included
  std::optional<std::vector<unsigned char>> load(std::string_view key) const;
  /// Puts the file in place whole or not at all, and removes the oldest beyond kMostFiles.
  void store(std::string_view key, std::span<const unsigned char> binary) const;

  /// Whether there is a folder that store() can write to; makes it.
  bool takes_files() const;

  /// Where a key's program lies.
  std::filesystem::path file_of(std::string_view key) const;
  static constexpr std::size_t kMostFiles = 200;

 private:
  FileDescriptor make_folder() const;

  std::filesystem::path folder_;
};

}  // namespace starpmc
