#include "app/profile_sampling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/chain_count.hpp"
#include "app/chain_share.hpp"
#include "app/common_files.hpp"
#include "app/interruption.hpp"
#include "app/next_image.hpp"
#include "app/profile_folder.hpp"
#include "base/process_age.hpp"
#include "io/log.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

std::string name_of(const ProfileImages& images, std::size_t image) {
  return fmt::format("image {} of {} ({})", image + 1, images.count(),
                     images.folder(image).string());
}

/// How an image goes on: never with fewer steps than it was to have.
Begin begin_of(const ProfileImages& images, std::size_t image, std::uint64_t& steps) {
  if (images.state(image) == ProfileImages::State::absent) return Begin::anew;
  const std::uint64_t before = images.steps_of(image);
  steps = std::max(steps, before);
  return before < steps ? Begin::with_more_steps : Begin::at_checkpoints;
}

/// What the inputs of an image are read from, and may be new in its folder.
std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  for (const fs::path& here : {folder, folder / kAheadName}) {
    if (!fs::is_directory(here)) continue;
    for (const auto& entry : fs::directory_iterator(here)) {
      const std::string type = entry.path().extension().string();
      const bool read = type == ".gro" || type == ".xyz" || type == ".cfg" || type == ".h5";
      if (read) files.push_back(entry.path().string());
    }
  }
  return files;
}

/// What is said of a failure of several ranks.
AgreedFailure failure_of(const AgreedFailure& failure, const std::string& image,
                         const std::string& advice) {
  constexpr int kBadInput = 2;
  return {
      fmt::format("{}: {}{}", image, failure.what(), failure.status() == kBadInput ? "" : advice),
      failure.status()};
}

}  // namespace

void stop_if_interrupted(Ranks& ranks) {
  for (const int signal : ranks.all(Interruption::first_signal())) {
    if (signal != 0) throw Stopped{signal};
  }
}

std::vector<std::string> arguments_to_go_on(const ProfileImages& images) {
  const fs::path& folder = images.inputs().settings.output.folder;
  return {"profile", (folder / "profile.cfg").string(), "--output.folder", folder.string()};
}

std::string how_to_go_on(const Ranks& ranks, const ProfileImages& images) {
  return ranks.launched(fmt::format("starpmc {}", fmt::join(arguments_to_go_on(images), " ")));
}

std::vector<ProfileSampling::Missing> ProfileSampling::missing() {
  const nlohmann::json found = of_first(ranks_, [this] {
    nlohmann::json list = nlohmann::json::array();
    const std::vector<std::uint64_t> steps = images_.planned_steps();
    for (const std::size_t image : images_.order()) {
      const bool finished = images_.state(image) == ProfileImages::State::finished &&
                            images_.steps_of(image) >= steps[image];
      if (!finished) list.push_back({image, steps[image]});
    }
    return list;
  });
  std::vector<Missing> missing;
  for (const nlohmann::json& image : found) missing.push_back({image.at(0), image.at(1)});
  return missing;
}

/// Rank 0 writes what they are read from.
ProfileSampling::Start ProfileSampling::start_of(const Missing& missing) {
  const nlohmann::json found = of_first(ranks_, [&]() -> nlohmann::json {
    const std::size_t image = missing.image;
    std::uint64_t steps = missing.steps;
    const Begin begin = begin_of(images_, image, steps);
    const auto words = begin == Begin::anew ? images_.begin(image) : images_.go_on(image, steps);
    return {{"begin", begin}, {"words", words}, {"files", files_in(images_.folder(image))}};
  });
  const std::vector<std::string> files = found.at("files");
  await_common_files(ranks_, std::vector<fs::path>(files.begin(), files.end()));
  const std::vector<std::string> words = found.at("words");
  std::optional<Inputs> inputs;
  agree(ranks_, [&] { inputs = read_inputs(words, "profile"); });
  return {found.at("begin"), std::move(*inputs)};
}

/// That one of them, where it has not been begun.
std::optional<std::size_t> ProfileSampling::absent(std::span<const Missing> next,
                                                   std::size_t number) const {
  if (number >= next.size()) return std::nullopt;
  const std::size_t image = next[number].image;
  return images_.state(image) == ProfileImages::State::absent ? std::optional(image) : std::nullopt;
}

/// Those of this process.
/// @param chains of an image; 0: how many `auto` is comes out later
unsigned ProfileSampling::own_chains(unsigned chains) const {
  return equal_share(chains, ranks_.rank(), ranks_.size()).count;
}

/// @param next the images after it
/// @return seconds that one like it will take
double ProfileSampling::simulate(const Missing& missing, std::span<const Missing> next) {
  const double begun_seconds = std::exchange(first_, false) ? 0 : process_age_seconds();
  Start start = start_of(missing);
  const Settings::QmSection& qm = start.inputs.settings.qm;
  // `auto` has been decided where another image has been sampled.
  const unsigned chains = own_chains(start.inputs.settings.sampling.chains);
  if (!server_ && chains > 0) {
    server_ = start_device_server(qm, RunEngines::engines_of(qm, chains));
  }
  if (engines_ && !engines_->serve(start.inputs, device_)) engines_.reset();
  if (!engines_ && chains > 0) {
    const unsigned users = qm_workers(qm, chains) * ranks_.size();
    engines_ = std::make_unique<RunEngines>(start.inputs, chains, users, idle_, server_);
  }
  Simulation simulation(ranks_, std::move(start.inputs), start.begin, how_to_go_on(ranks_, images_),
                        std::move(engines_));
  simulation.count_seconds_from(begun_seconds);
  device_ = simulation.qm_device();
  std::optional<NextImage> following;
  std::atomic<double> made_seconds = 0;  // when its reference was there
  // Rank 0 makes every reference; the others find workers of the images before.
  const auto next_image = ranks_.first() ? absent(next, 0) : std::nullopt;
  if (next_image) {
    simulation.when_reference_is_there([&] {
      made_seconds = process_age_seconds();
      following.emplace(images_, chains, *next_image, absent(next, 1), simulation,
                        std::move(later_), idle_, server_);
    });
  }
  const bool complete = simulation.run();
  const bool ahead = following && following->makes_reference();
  if (complete && following) {
    engines_ = following->finish();
    later_ = following->take_later();
  }
  following.reset();
  stop_file_logging();
  // Also one that came while the next image's reference was waited for.
  stop_if_interrupted(ranks_);
  if (!complete) throw Stopped{0};
  return ahead ? process_age_seconds() - made_seconds : simulation.summary().wall_seconds;
}

/// simulate(), with failures that say of which image they are.
double ProfileSampling::sample(const Missing& missing, std::span<const Missing> next) {
  const std::string name = name_of(images_, missing.image);
  const std::string advice = fmt::format(
      "\nlook at its geometry in {}; images that have been sampled are kept, and the whole profile "
      "goes on from there with: {}",
      (images_.folder(missing.image) / "solute.xyz").string(), how_to_go_on(ranks_, images_));
  try {
    return simulate(missing, next);
  } catch (const StoppedAtStart& stop) {
    throw Stopped{stop.signal};
  } catch (const AgreedFailure& failure) {
    stop_file_logging();
    throw failure_of(failure, name, advice);
  } catch (const InputError&) {
    stop_file_logging();
    std::cerr << "starpmc: " << name << ":\n";
    throw;
  } catch (const RunError& error) {
    stop_file_logging();
    throw RunError(fmt::format("{}: {}{}", name, error.what(), advice));
  }
}

void ProfileSampling::sample_missing() {
  const auto tell = [this](const std::string& text) {
    if (ranks_.first()) std::cout << text << std::endl;
  };
  const std::vector<Missing> all = missing();
  if (all.size() < images_.count()) {
    tell(fmt::format("{} of {} images are there", images_.count() - all.size(), images_.count()));
  }
  for (std::size_t made = 1; const Missing& image : all) {
    // What the first one's start takes, the next ones do not.
    const double each = sample(image, std::span(all).subspan(made));
    stop_if_interrupted(ranks_);
    const double more = each * static_cast<double>(all.size() - made);
    tell(image_name(images_, image.image) + " sampled" +
         (more > 0 ? fmt::format("; about {:.0f} s more of sampling", more) : ""));
    ++made;
  }
  idle_->clear();
}

}  // namespace starpmc
