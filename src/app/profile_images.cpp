#include "app/profile_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/common_files.hpp"
#include "app/input_fingerprint.hpp"
#include "app/profile_folder.hpp"
#include "app/profile_requirements.hpp"
#include "app/profile_topologies.hpp"
#include "app/run_reference.hpp"
#include "base/checked_file.hpp"
#include "config/option.hpp"
#include "config/options.hpp"
#include "io/file_names.hpp"
#include "io/json_text.hpp"
#include "kernels/base/error.hpp"
#include "system/superposition.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// The box's molecule is none of the path's where it lies farther from all images.
constexpr double kFarAngstrom = 1.0;

/// Of the topologies of all images, which files may have changed under the same names.
std::string topology_text(const Inputs& inputs, std::span<const System> systems) {
  std::string text = topology_digest(inputs.system, inputs.settings) + '\n';
  for (const System& system : systems) text += topology_digest(system, inputs.settings) + '\n';
  return text;
}

std::string text_of(const SolutePath& path) {
  std::string text;
  for (std::size_t i = 0; i < path.images.size(); ++i) {
    text += format_xyz({fmt::format("image={} of {}, in the box", i + 1, path.images.size()),
                        path.elements, path.images[i].positions});
  }
  return text;
}

}  // namespace

std::string image_name(const ProfileImages& images, std::size_t image) {
  std::string name = fmt::format("image {} of {}", image + 1, images.count());
  if (images.added() == 0) return name;
  return name + " (" + images.folder(image).filename().string() + ")";
}

ProfileImages::ProfileImages(Inputs inputs)
    : inputs_(std::move(inputs)), folder_(inputs_.settings.output.folder) {
  // Each image is what a run would be by default, too.
  if (exact_if_served(inputs_)) inputs_.settings.sampling.ensemble = Ensemble::exact;
  require_profile(inputs_);
  path_ = read_solute_path(inputs_.settings.profile.path);
  require_same_atoms(inputs_.settings.profile.path, path_, *inputs_.system.solute);
  require_same_state(inputs_, path_);
  topologies_ = inputs_.settings.profile.topologies;
  systems_ = read_profile_topologies(inputs_, count());
  for (std::size_t i = 0; i < count(); ++i) numbers_.push_back(i);
  place();
}

void ProfileImages::place() {
  const std::vector<Vector3>& there = inputs_.system.solute->positions;
  Superposition best;
  best.rmsd = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count(); ++i) {
    const Superposition fit = superpose(path_.images[i].positions, there, path_.masses);
    if (fit.rmsd >= best.rmsd) continue;
    best = fit;
    nearest_ = i;
  }
  if (best.rmsd > kFarAngstrom) {
    throw InputError(inputs_.settings.profile.path.string(),
                     fmt::format("no image is like the QM molecule {} in the box; the nearest is "
                                 "image {}",
                                 inputs_.system.solute->name, nearest_ + 1),
                     fmt::format("{:.2f} angstrom off (root mean square, by mass)", best.rmsd),
                     "make the box with the geometry of one of the images (starpmc solvate)");
  }
  for (SolutePath::Image& image : path_.images) {
    for (Vector3& position : image.positions) {
      position = best.centre + rotate(best.orientation, position);
    }
  }
}

std::vector<std::size_t> ProfileImages::order() const {
  std::vector<std::size_t> order;
  for (std::size_t i = nearest_; i < count(); ++i) order.push_back(i);
  for (std::size_t i = nearest_; i-- > 0;) order.push_back(i);
  return order;
}

fs::path ProfileImages::folder(std::size_t image) const {
  const int digits = count() - added() > 99 ? 3 : 2;
  return folder_.path() / fmt::format("{}{:0{}}", kImagePrefix, numbers_[image] + 1, digits);
}

ProfileImages::State ProfileImages::state(std::size_t image) const {
  if (fs::exists(folder(image) / "summary.json")) return State::finished;
  return fs::exists(folder(image) / settings_name) ? State::begun : State::absent;
}

System ProfileImages::system_of(std::size_t image) const {
  System system = systems_.empty() ? inputs_.system : systems_[image];
  system.solute->positions = path_.images[image].positions;
  return system;
}

/// Of what was given, which another rank may have read otherwise.
std::string ProfileImages::identity() const {
  return text_of(path_) + topology_text(inputs_, systems_);
}

void ProfileImages::open_folder(Ranks& ranks) {
  const std::string given = identity();
  const nlohmann::json opened = of_first(ranks, [&]() -> nlohmann::json {
    const bool was_there =
        folder_.open(inputs_.settings, text_of(path_), topology_text(inputs_, systems_));
    if (was_there) find_added();
    folder_.save_settings(inputs_.settings);  // images yet to come follow what may be another value
    return {{"given", given}, {"added", text_of(added_)}};
  });
  agree(ranks, [&] {
    if (ranks.first()) return;
    if (opened.at("given") != given) {
      throw InputError(inputs_.file, "or a file of the profile reads otherwise here than at rank 0",
                       "", "give all processes the same input files, on a file system they share");
    }
    const auto& added = opened.at("added").get_ref<const std::string&>();
    for (const AddedImage& image : added_images_in(added, kAddedName)) insert(image);
  });
  await_common_files(ranks, std::array{folder_.path() / kProfileSettingsName});
}

std::uint64_t ProfileImages::steps_of(std::size_t image) const {
  return read_settings(folder(image) / settings_name, {}).sampling.steps;
}

/// Kept by number: images that have been added since are not in it yet. None gets fewer than
/// sampling.steps, which may have grown.
std::vector<std::uint64_t> ProfileImages::planned_steps() const {
  const fs::path file = folder_.path() / kStepsName;
  std::vector<std::uint64_t> steps(count(), inputs_.settings.sampling.steps);
  if (!fs::exists(file)) return steps;
  const auto kept = nlohmann::json::parse(std::ifstream(file), nullptr, false);
  if (!kept.is_array() || kept.size() < count() - added() || kept.size() > count()) {
    throw InputError(file.string(), "has no number of steps for each image", "",
                     "remove the file; images keep what has been sampled");
  }
  for (std::size_t i = 0; i < count(); ++i) {
    if (numbers_[i] < kept.size()) {
      steps[i] = std::max(steps[i], kept[numbers_[i]].get<std::uint64_t>());
    }
  }
  return steps;
}

void ProfileImages::plan_steps(const std::vector<std::uint64_t>& steps) const {
  std::vector<std::uint64_t> by_number(count());
  for (std::size_t i = 0; i < count(); ++i) by_number[numbers_[i]] = steps[i];
  write_file_atomically(folder_.path() / kStepsName, json_text(nlohmann::json(by_number)));
}

std::vector<Neighbours> ProfileImages::neighbours(std::span<const double> overlaps) const {
  std::vector<Neighbours> pairs;
  for (std::size_t i = 0; i + 1 < count(); ++i) {
    pairs.push_back({overlaps[i], path_.images[i + 1].largest_step,
                     topologies_.empty() || topologies_[i] == topologies_[i + 1]});
  }
  return pairs;
}

/// The decision comes last, so that a profile that is killed before finds it again from the same
/// energies.
void ProfileImages::add(std::span<const std::size_t> after, std::span<const double> overlaps) {
  const std::vector<std::size_t> numbers = numbers_;
  for (const std::size_t image : after) {
    insert({numbers_.size(), numbers[image], numbers[image + 1], overlaps[image]});
  }
  if (!folder_.is_open()) return;
  write_file_atomically(folder_.path() / kAddedPathName, text_of(path_));
  write_file_atomically(folder_.path() / kAddedName, text_of(added_));
}

void ProfileImages::insert(const AddedImage& added) {
  const auto at =
      static_cast<std::ptrdiff_t>(std::ranges::find(numbers_, added.before) - numbers_.begin());
  const auto before = static_cast<std::size_t>(at);
  const bool fits = added.number == numbers_.size() && before + 1 < count() &&
                    numbers_[before + 1] == added.after &&
                    (topologies_.empty() || topologies_[before] == topologies_[before + 1]);
  if (!fits) {
    throw InputError((folder_.path() / kAddedName).string(), "names neighbours that are none",
                     fmt::format("image {}", added.number + 1),
                     "put back the file as it was, or begin anew with --output.overwrite true");
  }
  path_.images.insert(path_.images.begin() + at + 1,
                      image_between(path_.images[before], path_.images[before + 1]));
  path_.images[before + 2].largest_step = path_.images[before + 1].largest_step;
  numbers_.insert(numbers_.begin() + at + 1, added.number);
  if (!topologies_.empty()) {
    topologies_.insert(topologies_.begin() + at + 1, topologies_[before]);
    systems_.insert(systems_.begin() + at + 1, systems_[before]);
  }
  if (before < nearest_) ++nearest_;
  added_.push_back(added);
}

void ProfileImages::find_added() {
  for (const AddedImage& image : read_added_images(folder_.path() / kAddedName)) insert(image);
  for (std::size_t i = 0; i < count(); ++i) require_its_geometry(i);
}

/// A folder of this number may be one that was added between other neighbours.
void ProfileImages::require_its_geometry(std::size_t image) const {
  const fs::path file = folder(image) / "solute.xyz";
  if (numbers_[image] < count() - added() || state(image) == State::absent) return;
  const auto body = [](const std::string& text) {
    return text.substr(text.find('\n', text.find('\n') + 1) + 1);
  };
  const Geometry wanted{"", path_.elements, path_.images[image].positions};
  if (body(ProfileFolder::text_of(file)) == body(format_xyz(wanted))) return;
  throw InputError(file.string(), "is not the geometry in the middle of its neighbours", "",
                   "put back " + (folder_.path() / kAddedName).string() +
                       ", or remove the folder so that the image is sampled again");
}

}  // namespace starpmc
