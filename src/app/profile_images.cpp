#include "app/profile_images.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/input_fingerprint.hpp"
#include "app/preparation_checkpoint.hpp"
#include "app/profile_folder.hpp"
#include "app/profile_requirements.hpp"
#include "app/profile_topologies.hpp"
#include "app/run.hpp"
#include "app/run_reference.hpp"
#include "base/checked_file.hpp"
#include "config/option.hpp"
#include "config/options.hpp"
#include "io/file_names.hpp"
#include "io/final_state.hpp"
#include "io/json_text.hpp"
#include "io/output_folder.hpp"
#include "io/stored_state_reader.hpp"
#include "kernels/base/error.hpp"
#include "system/pose_transfer.hpp"
#include "system/superposition.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// The box's molecule is none of the path's where it lies farther from all images.
constexpr double kFarAngstrom = 1.0;
/// Random numbers of an image's own: with the same ones chains of like Hamiltonians come together,
/// and their samples are no longer independent. Mixed as by SplitMix64 (G. Steele et al., OOPSLA
/// 2014), so that profiles of neighbouring seeds have none in common.
std::uint64_t seed_of(std::uint64_t seed, std::size_t image) {
  const auto mixed = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  };
  return mixed(mixed(seed) + image);
}

/// Of a run, whose only chain lies in the run's folder.
std::vector<fs::path> chain_folders(const fs::path& run) {
  std::vector<fs::path> folders;
  for (unsigned chain = 0;; ++chain) {
    fs::path folder = run / OutputFolder::chain_name(chain);
    if (!fs::is_directory(folder)) break;
    folders.push_back(std::move(folder));
  }
  if (folders.empty()) folders.push_back(run);
  return folders;
}

void add_option(std::vector<std::string>& words, const char* option,
                std::span<const fs::path> files) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.string());
  words.insert(words.end(), {option, fmt::format("{}", fmt::join(names, ", "))});
}

/// Of chains, in turn.
void add_starts(std::vector<std::string>& words, std::span<const fs::path> files) {
  add_option(words, "--system.coordinates", files.first(1));
  add_option(words, "--system.chain-coordinates", files.subspan(1));
}

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

void ProfileImages::open_folder() {
  const bool was_there =
      folder_.open(inputs_.settings, text_of(path_), topology_text(inputs_, systems_));
  if (was_there) find_added();
  folder_.save_settings(inputs_.settings);  // images yet to come follow what may be another value
}

/// The one towards the image that is sampled first.
std::size_t ProfileImages::neighbour_of(std::size_t image) const {
  return image > nearest_ ? image - 1 : image + 1;
}

fs::path ProfileImages::ahead_folder(std::size_t image) const { return folder(image) / kAheadName; }

/// The configuration's.
ProfileImages::Solvents ProfileImages::own_solvents() const {
  Solvents solvents = inputs_.chain_starts;
  solvents.insert(solvents.begin(), inputs_.system.molecules);
  return solvents;
}

/// Of all chains of an image. With one solvent for all chains of the next they would share what it
/// has that is slow to change, and the scatter between them, which errors are made from, would not
/// tell of it.
ProfileImages::Solvents ProfileImages::ended_with(std::size_t image) const {
  Solvents solvents;
  for (const fs::path& chain : chain_folders(folder(image))) {
    const StoredState state = read_state_of_run(chain);
    // A run stores its molecules in the order of the system, which all images share.
    if (!std::ranges::equal(state.molecules, inputs_.system.molecules, {}, &Molecule::type,
                            &Molecule::type)) {
      throw InputError(chain.string(), "has other molecules than this profile",
                       std::to_string(state.molecules.size()), "begin in another folder");
    }
    const PoseTransfer transfer(state.types, inputs_.system.molecule_types, state.path);
    solvents.push_back(transfer(state.molecules));
  }
  return solvents;
}

/// Known as soon as the image has been begun, unlike what its chains end with.
ProfileImages::Solvents ProfileImages::begun_with(std::size_t image) const {
  if (image == nearest_) return own_solvents();
  const Inputs begun = go_on(image, steps_of(image));
  const PoseTransfer transfer(begun.system.molecule_types, inputs_.system.molecule_types,
                              begun.settings.system.coordinates);
  Solvents solvents{transfer(begun.system.molecules)};
  for (const std::vector<Molecule>& start : begun.chain_starts) {
    solvents.push_back(transfer(start));
  }
  return solvents;
}

fs::path ProfileImages::topology_of(std::size_t image) const {
  return topologies_.empty() ? inputs_.settings.system.topology : topologies_[image];
}

std::vector<fs::path> ProfileImages::write_starts(std::size_t image, const Solvents& solvents,
                                                  const char* name) const {
  const fs::path here = folder(image);
  std::error_code failure;
  fs::create_directories(here, failure);
  if (failure) throw RunError(here.string() + ": cannot be created: " + failure.message());
  const System system = system_of(image);
  write_file_atomically(
      here / "solute.xyz",
      format_xyz({image_name(*this, image), system.solute->elements, system.solute->positions}));
  std::vector<fs::path> files;
  for (std::size_t chain = 0; chain < solvents.size(); ++chain) {
    files.push_back(fs::absolute(here / fmt::format("{}-{}.gro", name, chain)));
    write_file_atomically(files.back(), gro_text(system, solvents[chain], inputs_.order));
  }
  return files;
}

std::vector<fs::path> ProfileImages::write_reference_starts(std::size_t image) const {
  return write_starts(image, begun_with(neighbour_of(image)), "reference-start");
}

Inputs ProfileImages::begin(std::size_t image) const {
  Words words = words_of(image, folder(image));
  const bool first = image == nearest_;
  const std::vector<fs::path> starts =
      write_starts(image, first ? own_solvents() : ended_with(neighbour_of(image)), "start");
  add_starts(words, starts);
  const fs::path made = RunReference::path_in(ahead_folder(image));
  if (!first) add_option(words, "--system.reference-coordinates", write_reference_starts(image));
  if (fs::exists(made)) add_option(words, "--qm.reference", std::array{fs::absolute(made)});
  return read_inputs(words, "profile");
}

Inputs ProfileImages::begin_ahead(std::size_t image) const {
  return ahead_from(image, write_reference_starts(image));
}

Inputs ProfileImages::preview(std::size_t image) const {
  return ahead_from(image, write_starts(image, {inputs_.system.molecules}, "reference-start"));
}

Inputs ProfileImages::ahead_from(std::size_t image, const std::vector<fs::path>& starts) const {
  const fs::path here = ahead_folder(image);
  std::error_code failure;
  fs::create_directories(here, failure);
  if (failure) throw RunError(here.string() + ": cannot be created: " + failure.message());
  Words words = words_of(image, here);
  add_starts(words, starts);
  add_option(words, "--system.reference-coordinates", {});
  return read_inputs(words, "profile");
}

/// But for where its chains begin.
ProfileImages::Words ProfileImages::words_of(std::size_t image, const fs::path& output) const {
  const std::string profile = fs::absolute(folder_.path() / kProfileSettingsName).string();
  const std::uint64_t seed = seed_of(inputs_.settings.sampling.seed, numbers_[image]);
  return {profile,
          "--system.solute",
          fs::absolute(folder(image) / "solute.xyz").string(),
          "--system.frame",
          "auto",
          "--system.topology",
          topology_of(image).string(),
          "--profile.path",
          "",
          "--profile.topologies",
          "",
          "--sampling.seed",
          std::to_string(seed),
          "--output.folder",
          fs::absolute(output).string(),
          "--output.overwrite",
          "true"};
}

Inputs ProfileImages::go_on(std::size_t image, std::uint64_t steps) const {
  const fs::path here = fs::absolute(folder(image));
  return read_inputs(
      std::vector<std::string>{(here / settings_name).string(), "--output.folder", here.string(),
                               "--sampling.steps", std::to_string(steps)},
      "profile");
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
  for (const AddedImage& image : read_added_images(folder_.path() / kAddedName)) {
    insert(image);
  }
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
