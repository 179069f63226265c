#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "io/file_names.hpp"
#include "io/folder_lock.hpp"

namespace starpmc {

// In a profile's folder.
inline constexpr const char* kProfileSettingsName = profile_settings_name;
inline constexpr const char* kStepsName = "profile-steps.json";
inline constexpr const char* kAddedName = "profile-added.json";
inline constexpr const char* kAddedPathName = "path-with-added.xyz";
inline constexpr const char* kImagePrefix = "image-";
/// In an image's folder: what is made for it before its own run begins.
inline constexpr const char* kAheadName = "ahead";

/// The folder of a free energy profile: which profile it is of, and which of its files belong to
/// it.
class ProfileFolder {
 public:
  explicit ProfileFolder(std::filesystem::path path) : path_(std::move(path)) {}
  const std::filesystem::path& path() const { return path_; }

  /// Makes the folder with the path in it, or finds it as this profile has left it; what is there
  /// is removed with output.overwrite. It is locked from here on.
  /// @param path     all images as .xyz
  /// @param topology digests of all topologies
  /// @return whether the profile was there
  /// @throws InputError where it is another one's, or one is writing there; RunError
  bool open(const Settings& settings, const std::string& path, const std::string& topology);
  bool is_open() const { return lock_.has_value(); }
  /// As profile.cfg, by which a profile that was stopped goes on.
  void save_settings(Settings settings) const;
  /// A file's; empty: there is none.
  static std::string text_of(const std::filesystem::path& path);

 private:
  void require_nothing_foreign() const;
  void require_no_images() const;
  void require_same(const std::string& path, const std::string& topology) const;
  /// Of an earlier profile, with whatever number of images.
  void clear() const;

  std::filesystem::path path_;
  std::optional<FolderLock> lock_;
};

}  // namespace starpmc
