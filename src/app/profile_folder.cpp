#include "app/profile_folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "app/inputs.hpp"
#include "app/preparation_checkpoint.hpp"
#include "app/run.hpp"
#include "app/run_reference.hpp"
#include "base/checked_file.hpp"
#include "config/option.hpp"
#include "config/options.hpp"
#include "io/file_names.hpp"
#include "io/output_folder.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPathName = "path.xyz";
/// What free_energy.py and the report make of all images.
constexpr const char* kResultNames[] = {"profile.csv",
                                        "profile.json",
                                        "profile-input.json",
                                        "profile-overlaps.json",
                                        "profile.png",
                                        "profile.svg",
                                        "profile-overlap.png",
                                        "profile-overlap.svg",
                                        "profile-convergence.png",
                                        "profile-convergence.svg"};

/// Options that a profile that goes on may have other values of.
bool may_change(const std::string& option) {
  return may_change_when_resumed("--" + option) || option == "profile.until-error" ||
         option == "profile.most-steps" || option == "profile.least-overlap" ||
         option == "profile.most-added-images" || option == "profile.most-frames" ||
         option == "output.overwrite" || option == "output.folder";
}

void require_same_settings(const fs::path& file, const Settings& now) {
  const Settings before = read_settings(file, {});
  for (const config::Option& option : config::options()) {
    if (may_change(option.name()) || option.get(before) == option.get(now)) continue;
    throw InputError("output.folder",
                     fmt::format("holds a profile whose {} is {}, here it is {}", option.name(),
                                 option.get(before), option.get(now)),
                     file.parent_path().string(),
                     "choose another folder with --output.folder, or replace what is there with "
                     "--output.overwrite true");
  }
}

/// Overwriting clears the images' folders and writes those of the new images there.
/// @throws InputError where the profile reads something of the one it would replace
void require_inputs_elsewhere(const Settings& settings) {
  const fs::path folder = fs::weakly_canonical(fs::absolute(settings.output.folder));
  for (const InputPath& input : input_paths(settings)) {
    const fs::path below =
        fs::weakly_canonical(fs::absolute(input.path)).lexically_relative(folder);
    const std::string first = below.empty() ? "" : below.begin()->string();
    if (!first.starts_with(kImagePrefix) && below != kAddedPathName) continue;
    throw InputError(input.option,
                     "is of the profile that --output.overwrite true would replace by this one",
                     input.path.string(),
                     "choose another folder with --output.folder, or name a copy that lies "
                     "elsewhere; nothing has been changed");
  }
}

}  // namespace

std::string ProfileFolder::text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool ProfileFolder::open(const Settings& settings, const std::string& path,
                         const std::string& topology) {
  const bool overwrite = settings.output.overwrite;
  if (fs::exists(path_ / settings_name)) {
    throw InputError("output.folder", "holds a run, not a profile", path_.string(),
                     "choose another folder with --output.folder");
  }
  if (overwrite) require_inputs_elsewhere(settings);
  std::error_code failure;
  fs::create_directories(path_, failure);
  if (failure) throw cannot_create_output_folder(path_, failure);
  lock_.emplace(path_);
  const fs::path settings_file = path_ / kProfileSettingsName;
  if (overwrite || !fs::exists(settings_file)) require_nothing_foreign();
  if (overwrite) clear();
  if (fs::exists(settings_file) && !overwrite) {
    require_same_settings(settings_file, settings);
    require_same(path, topology);
    return true;
  }
  if (!overwrite) require_no_images();
  write_file_atomically(path_ / profile_topology_name, topology);  // which tells that it is one
  write_file_atomically(path_ / kPathName, path);
  return false;
}

/// A path.xyz may be what `starpmc path` has computed for hours.
void ProfileFolder::require_nothing_foreign() const {
  for (const char* name : {kPathName, kProfileSettingsName}) {
    if (!fs::exists(path_ / name) || fs::exists(path_ / profile_topology_name)) continue;
    throw InputError("output.folder",
                     "holds a file that has the name of a profile's but is not one",
                     (path_ / name).string(),
                     "choose another folder with --output.folder; nothing has been changed");
  }
}

/// What they were sampled with is in the profile's settings: of other ones they would be believed.
void ProfileFolder::require_no_images() const {
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (!entry.path().filename().string().starts_with(kImagePrefix)) continue;
    if (!fs::exists(entry.path() / settings_name) && !fs::exists(entry.path() / kAheadName))
      continue;
    throw InputError("output.folder",
                     fmt::format("holds images of a profile without its {}, which says what they "
                                 "were sampled with",
                                 kProfileSettingsName),
                     entry.path().string(),
                     "put it back, choose another folder with --output.folder, or replace what is "
                     "there with --output.overwrite true");
  }
}

void ProfileFolder::require_same(const std::string& path, const std::string& topology) const {
  const fs::path path_file = path_ / kPathName;
  if (text_of(path_file) != path) {
    throw InputError("output.folder", "holds a profile along another path", path_file.string(),
                     "give the same profile.path, or another folder with --output.folder");
  }
  const fs::path topology_file = path_ / profile_topology_name;
  if (text_of(topology_file) != topology) {
    throw InputError("output.folder",
                     "holds a profile of other topologies or potential parameters than the files "
                     "have now, or has lost their digests",
                     topology_file.string(),
                     "put back the files as they were, choose another folder with "
                     "--output.folder, or replace what is there with --output.overwrite true");
  }
}

void ProfileFolder::save_settings(Settings settings) const {
  settings.output.overwrite = false;  // what goes on from here keeps what is there
  write_file_atomically(path_ / kProfileSettingsName, settings_as_config(settings));
}

void ProfileFolder::clear() const {
  for (const auto& entry : fs::directory_iterator(path_)) {
    const bool is_image = entry.path().filename().string().starts_with(kImagePrefix);
    if (!is_image || !entry.is_directory() || entry.is_symlink()) continue;
    fs::remove(RunReference::path_in(entry.path() / kAheadName));
    fs::remove(PreparationCheckpoint::path_in(entry.path() / kAheadName));
    if (fs::exists(entry.path() / settings_name)) OutputFolder(entry.path(), true);
  }
  for (const char* name : {kStepsName, kAddedName, kAddedPathName}) fs::remove(path_ / name);
  for (const char* name : kResultNames) fs::remove(path_ / name);
}

}  // namespace starpmc
