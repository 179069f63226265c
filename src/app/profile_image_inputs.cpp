// What the runs of a profile's images begin with.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "app/profile_folder.hpp"
#include "app/profile_images.hpp"
#include "app/run_reference.hpp"
#include "base/checked_file.hpp"
#include "io/file_names.hpp"
#include "io/final_state.hpp"
#include "io/output_folder.hpp"
#include "io/stored_state_reader.hpp"
#include "kernels/base/error.hpp"
#include "system/pose_transfer.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

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

void add_option(std::vector<std::string>& words, const char* option,
                std::span<const fs::path> files) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.string());
  words.insert(words.end(), {option, fmt::format("{}", fmt::join(names, ", "))});
}

/// Where their number is `auto`, and would be decided anew for each image, that of the first image
/// that has been sampled: each chain goes on from one of the neighbour, and errors come from what
/// the profile is without one chain of each image. 0: none has been.
std::size_t decided_chains(const ProfileImages& images) {
  if (images.inputs().settings.sampling.chains != 0) return 0;
  for (const std::size_t image : images.order()) {
    if (images.state(image) != ProfileImages::State::finished) continue;
    return OutputFolder::chain_folders_of(images.folder(image)).size();
  }
  return 0;
}

/// Of chains, in turn.
void add_starts(std::vector<std::string>& words, std::span<const fs::path> files) {
  add_option(words, "--system.coordinates", files.first(1));
  add_option(words, "--system.chain-coordinates", files.subspan(1));
}

}  // namespace

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
  for (const fs::path& chain : OutputFolder::chain_folders_of(folder(image))) {
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
  const Inputs begun = read_inputs(go_on(image, steps_of(image)), "profile");
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

ProfileImages::Words ProfileImages::begin(std::size_t image) const {
  Words words = words_of(image, folder(image));
  const bool first = image == nearest_;
  const std::vector<fs::path> starts =
      write_starts(image, first ? own_solvents() : ended_with(neighbour_of(image)), "start");
  add_starts(words, starts);
  const fs::path made = RunReference::path_in(ahead_folder(image));
  if (!first) add_option(words, "--system.reference-coordinates", write_reference_starts(image));
  if (fs::exists(made)) add_option(words, "--qm.reference", std::array{fs::absolute(made)});
  return words;
}

ProfileImages::Words ProfileImages::begin_ahead(std::size_t image) const {
  return ahead_from(image, write_reference_starts(image));
}

ProfileImages::Words ProfileImages::preview(std::size_t image) const {
  return ahead_from(image, write_starts(image, {inputs_.system.molecules}, "reference-start"));
}

ProfileImages::Words ProfileImages::ahead_from(std::size_t image,
                                               const std::vector<fs::path>& starts) const {
  const fs::path here = ahead_folder(image);
  std::error_code failure;
  fs::create_directories(here, failure);
  if (failure) throw RunError(here.string() + ": cannot be created: " + failure.message());
  Words words = words_of(image, here);
  add_starts(words, starts);
  add_option(words, "--system.reference-coordinates", {});
  return words;
}

/// But for where its chains begin.
ProfileImages::Words ProfileImages::words_of(std::size_t image, const fs::path& output) const {
  const std::string profile = fs::absolute(folder_.path() / kProfileSettingsName).string();
  const std::uint64_t seed = seed_of(inputs_.settings.sampling.seed, numbers_[image]);
  Words words{profile,
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
  if (const std::size_t chains = decided_chains(*this); chains > 0) {
    words.insert(words.end(), {"--sampling.chains", std::to_string(chains)});
  }
  return words;
}

ProfileImages::Words ProfileImages::go_on(std::size_t image, std::uint64_t steps) const {
  const fs::path here = fs::absolute(folder(image));
  return {(here / settings_name).string(), "--output.folder", here.string(), "--sampling.steps",
          std::to_string(steps)};
}

}  // namespace starpmc
