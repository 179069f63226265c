#include "app/profile.hpp"
#include "app/chain_count.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "app/device_succession.hpp"
#include "app/inputs.hpp"
#include "app/interruption.hpp"
#include "app/next_image.hpp"
#include "app/profile_energies.hpp"
#include "app/profile_images.hpp"
#include "app/run_engines.hpp"
#include "app/simulation.hpp"
#include "base/process_age.hpp"
#include "io/log.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/installation.hpp"
#include "kernels/base/logging.hpp"
#include "mpi/ranks.hpp"
#include "qm/make_engine.hpp"
#include "qm/spawn.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// An image may have so many times sampling.steps where nothing else is said.
constexpr std::uint64_t kMostRuns = 10;

/// A signal came; what has been sampled is kept.
struct Stopped {
  int signal;
};

/// Also where it came while a simulation ended.
void stop_if_interrupted() {
  if (const int signal = Interruption::first_signal(); signal != 0) throw Stopped{signal};
}

std::string name_of(const ProfileImages& images, std::size_t image) {
  return fmt::format("image {} of {} ({})", image + 1, images.count(),
                     images.folder(image).string());
}

std::vector<std::string> arguments_to_go_on(const ProfileImages& images) {
  const std::filesystem::path& folder = images.inputs().settings.output.folder;
  return {"profile", (folder / "profile.cfg").string(), "--output.folder", folder.string()};
}

std::string how_to_go_on(const ProfileImages& images) {
  return fmt::format("starpmc {}", fmt::join(arguments_to_go_on(images), " "));
}

/// What an image needs of the one before it, and leaves to the next.
struct Relay {
  /// Workers that no image needs at the moment.
  std::shared_ptr<IdleWorkers> idle = std::make_shared<IdleWorkers>();
  std::unique_ptr<RunEngines> engines;  ///< started early; null: none
  std::unique_ptr<RunEngines> later;    ///< of the image after, one of them
  std::string device;                   ///< QmEngine::device() of the engines so far
  bool first = true;                    ///< no image has been sampled by this process
};

/// That one of them, where it has not been begun.
std::optional<std::size_t> absent(const ProfileImages& images, std::span<const std::size_t> next,
                                  std::size_t number) {
  if (number >= next.size()) return std::nullopt;
  return images.state(next[number]) == ProfileImages::State::absent ? std::optional(next[number])
                                                                    : std::nullopt;
}

/// How an image that has been begun goes on: never with fewer steps than it was to have.
Begin begin_of(const ProfileImages& images, std::size_t image, std::uint64_t& steps) {
  if (images.state(image) == ProfileImages::State::absent) return Begin::anew;
  const std::uint64_t before = images.steps_of(image);
  steps = std::max(steps, before);
  return before < steps ? Begin::with_more_steps : Begin::at_checkpoints;
}

/// For an image whose engines have not been started early; null: how many chains there will be is
/// not known.
std::unique_ptr<RunEngines> engines_of(const Inputs& inputs, const Relay& relay) {
  const unsigned chains = inputs.settings.sampling.chains;
  if (chains == 0) return nullptr;
  return std::make_unique<RunEngines>(inputs, chains, qm_workers(inputs.settings.qm, chains),
                                      relay.idle);
}

/// @param steps of production in all
/// @param next  the images after it
/// @return seconds that one like it will take
/// @throws Stopped
double sample(Ranks& ranks, const ProfileImages& images, std::size_t image, std::uint64_t steps,
              std::span<const std::size_t> next, Relay& relay) {
  const Begin begin = begin_of(images, image, steps);
  const double begun_seconds = std::exchange(relay.first, false) ? 0 : process_age_seconds();
  try {
    Inputs inputs = begin == Begin::anew ? images.begin(image) : images.go_on(image, steps);
    if (relay.engines && !relay.engines->serve(inputs, relay.device)) relay.engines.reset();
    if (!relay.engines) relay.engines = engines_of(inputs, relay);
    Simulation simulation(ranks, std::move(inputs), begin, std::move(relay.engines));
    simulation.count_seconds_from(begun_seconds);
    relay.device = simulation.qm_device();
    std::optional<NextImage> following;
    std::atomic<double> made_seconds = 0;  // when its reference was there
    const std::optional<std::size_t> image_after = absent(images, next, 1);
    if (const auto next_image = absent(images, next, 0)) {
      simulation.when_reference_is_there([&, next_image] {
        made_seconds = process_age_seconds();
        following.emplace(images, *next_image, image_after, simulation, std::move(relay.later),
                          relay.idle);
      });
    }
    const bool complete = simulation.run();
    const bool ahead = following && following->makes_reference();
    if (complete && following) {
      relay.engines = following->finish();
      relay.later = following->take_later();
    }
    following.reset();
    stop_file_logging();
    // Also one that came while the next image's reference was waited for.
    stop_if_interrupted();
    if (!complete) throw Stopped{0};
    return ahead ? process_age_seconds() - made_seconds : simulation.summary().wall_seconds;
  } catch (const StoppedAtStart& stop) {
    throw Stopped{stop.signal};
  } catch (const InputError&) {
    stop_file_logging();
    std::cerr << "starpmc: " << name_of(images, image) << ":\n";
    throw;
  } catch (const RunError& error) {
    stop_file_logging();
    throw RunError(fmt::format(
        "{}: {}\nlook at its geometry in {}; images that have been sampled are kept, and the whole "
        "profile goes on from there with: {}",
        name_of(images, image), error.what(), (images.folder(image) / "solute.xyz").string(),
        how_to_go_on(images)));
  }
}

/// What is not there yet, in turn.
void sample_missing(Ranks& ranks, const ProfileImages& images, Relay& relay) {
  const std::vector<std::uint64_t> steps = images.planned_steps();
  std::vector<std::size_t> missing = images.order();
  std::erase_if(missing, [&](std::size_t image) {
    return images.state(image) == ProfileImages::State::finished &&
           images.steps_of(image) >= steps[image];
  });
  if (missing.size() < images.count()) {
    std::cout << fmt::format("{} of {} images are there\n", images.count() - missing.size(),
                             images.count());
  }
  for (std::size_t made = 1; const std::size_t image : missing) {
    const auto next = std::span(missing).subspan(made);
    // What the first one's start takes, the next ones do not.
    const double each = sample(ranks, images, image, steps[image], next, relay);
    stop_if_interrupted();
    const double more = each * static_cast<double>(missing.size() - made);
    std::cout << image_name(images, image) << " sampled"
              << (more > 0 ? fmt::format("; about {:.0f} s more", more) : "") << std::endl;
    ++made;
  }
  relay.idle->clear();
}

void write_all_energies(const ProfileImages& images) {
  Interruption interruption;
  const Inputs& inputs = images.inputs();
  const StarpuRuntime runtime(Precision::fp64, inputs.settings.run.implementation,
                              inputs.functions);
  for (const std::string& warning : runtime.warnings()) spdlog::warn(warning);
  write_energy_differences(
      images,
      [&](std::size_t done, std::size_t total) {
        std::cout << fmt::format("energies of image {} of {} under all Hamiltonians\n", done + 1,
                                 total)
                  << std::flush;
      },
      [&] { return interruption.requested(); });
}

/// @throws Stopped
void evaluate(const ProfileImages& images) {
  write_all_energies(images);
  stop_if_interrupted();
}

/// @param arguments after the folder's name
std::vector<std::string> estimate_command(const ProfileImages& images,
                                          std::vector<std::string> arguments = {}) {
  const fs::path script = installed_file(
      {"STARPMC_PROFILE", "profile", "src/profile", "free_energy.py"}, "starpmc profile");
  // -B: nothing is written beside the script.
  std::vector<std::string> command{find_worker_python(images.inputs().settings.qm).string(), "-B",
                                   script.string(),
                                   images.inputs().settings.output.folder.string()};
  std::ranges::move(arguments, std::back_inserter(command));
  return command;
}

/// The script's exit status.
int run_estimate(const std::vector<std::string>& command) {
  SpawnedProcess process = spawn_process(command, {}, STDERR_FILENO);
  process.input = FileDescriptor();
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = read(process.output.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    std::cout.write(buffer.data(), count);
    std::cout.flush();
  }
  int status = 0;
  while (waitpid(process.process_id, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// Images that are to have more steps, by profile.json: those that too large an error comes from
/// most, and those whose errors may be too small because they have few independent samples. Without
/// the latter a profile would end as soon as its error is too small by chance.
std::set<std::size_t> images_in_want(const nlohmann::json& profile, double wanted) {
  std::set<std::size_t> found = profile.at("images_with_few_samples");
  if (profile.at("largest_error").get<double>() > wanted) {
    found.merge(profile.at("images_with_most_of_the_error").get<std::set<std::size_t>>());
  }
  return found;
}

/// What plan_more() found, with the error.
std::string said_of_error(const nlohmann::json& profile, double wanted) {
  const std::size_t few = profile.at("images_with_few_samples").size();
  return fmt::format("largest error {:.3f} kJ/mol, {:.3f} are wanted{}: ",
                     profile.at("largest_error").get<double>(), wanted,
                     few == 0 ? "" : fmt::format("; few independent samples of {} images", few));
}

/// Plans twice the steps for images_in_want().
/// @return whether there are such that may have more
bool plan_more(const ProfileImages& images) {
  const Settings& settings = images.inputs().settings;
  const double wanted = settings.profile.until_error_kj_per_mol;
  if (wanted == 0) return false;
  const fs::path file = settings.output.folder / "profile.json";
  const auto profile = nlohmann::json::parse(std::ifstream(file), nullptr, false);
  if (!profile.is_object()) throw RunError(file.string() + ": cannot be read");
  const std::set<std::size_t> in_want = images_in_want(profile, wanted);
  if (in_want.empty()) return false;
  const std::uint64_t most = settings.profile.most_steps > 0 ? settings.profile.most_steps
                                                             : kMostRuns * settings.sampling.steps;
  std::vector<std::uint64_t> steps = images.planned_steps();
  std::size_t chosen = 0;
  for (const std::size_t image : in_want) {
    if (2 * steps.at(image) > most) continue;
    steps[image] *= 2;
    ++chosen;
  }
  std::cout << said_of_error(profile, wanted)
            << (chosen == 0 ? std::string("the images that this comes from have had all the "
                                          "steps they may have (profile.most-steps)\n")
                            : fmt::format("twice the steps for {} of the images\n", chosen))
            << std::flush;
  if (chosen > 0) images.plan_steps(steps);
  return chosen > 0;
}

/// Of each image with the next, as `free_energy.py FOLDER --overlaps` has left them.
std::vector<double> overlaps_of(const ProfileImages& images) {
  const fs::path file = images.inputs().settings.output.folder / "profile-overlaps.json";
  const auto found = nlohmann::json::parse(std::ifstream(file), nullptr, false);
  if (found.is_array() && found.size() + 1 == images.count()) return found;
  throw RunError(file.string() + ": cannot be read");
}

enum class Added { none, some, failed };

/// Puts images between neighbours that overlap too little. Why some get none though they should
/// goes to the estimate, which says so.
Added add_images(ProfileImages& images, int& status) {
  const auto& settings = images.inputs().settings.profile;
  if (settings.least_overlap == 0) return Added::none;
  status = run_estimate(estimate_command(images, {"--overlaps"}));
  if (status != 0) return Added::failed;
  const std::vector<double> overlaps = overlaps_of(images);
  const std::uint64_t most =
      settings.most_added_images > 0 ? settings.most_added_images : images.count() - images.added();
  const ChosenNeighbours found =
      choose_neighbours(images.neighbours(overlaps), settings.least_overlap,
                        most - std::min<std::uint64_t>(most, images.added()));
  for (const std::size_t image : found.chosen) {
    std::cout << fmt::format(
        "images {} and {} overlap by {:.3f}, {} are wanted: an image between\n", image + 1,
        image + 2, overlaps[image], settings.least_overlap);
  }
  std::cout << std::flush;
  if (found.chosen.empty()) {
    write_estimate_input(images, found.reasons);
    return Added::none;
  }
  images.add(found.chosen, overlaps);
  return Added::some;
}

int sample_and_estimate(Ranks& ranks, ProfileImages& images) {
  const std::vector<std::string> estimate = estimate_command(images);
  Relay relay;
  int status = 0;
  do {
    Added added = Added::none;
    do {
      sample_missing(ranks, images, relay);
      evaluate(images);
      write_estimate_input(images);
      added = add_images(images, status);
    } while (added == Added::some);
    if (added == Added::failed) return status;
    status = run_estimate(estimate);
    if (status != 0) return status;
  } while (plan_more(images));
  return 0;
}

/// The whole path has one set of Lennard-Jones types, which depends on where the box comes from:
/// the path read backwards has to be given the same topology.
std::string types_of(const ProfileImages& images) {
  const Settings& settings = images.inputs().settings;
  if (!settings.profile.topologies.empty()) return "";
  return fmt::format(
      "all have the Lennard-Jones types that {} gives to {}, the one nearest to the QM molecule in "
      "the box; profile.topologies gives each its own\n",
      settings.system.topology.string(), image_name(images, images.nearest_to_box()));
}

int make_profile(Ranks& ranks, std::span<const std::string> arguments) {
  if (ranks.size() > 1) {
    throw InputError("starpmc profile", "images are sampled by one process",
                     fmt::format("{} processes", ranks.size()),
                     "start it without mpirun or srun; StarPU uses all cores and devices");
  }
  ProfileImages images(read_inputs(arguments, "profile"));
  for (const std::string& warning : images.inputs().warnings) spdlog::warn(warning);
  images.open_folder();
  const std::string added = images.added() == 0 ? "" : fmt::format(" ({} added)", images.added());
  std::cout << fmt::format("{} images{} of {}, {:.3f} angstrom u^1/2 long; results in {}\n",
                           images.count(), added, images.inputs().system.solute->name,
                           images.path().images.back().coordinate,
                           images.inputs().settings.output.folder.string())
            << types_of(images) << std::flush;
  const DeviceSuccession succession(arguments_to_go_on(images));
  try {
    return sample_and_estimate(ranks, images);
  } catch (const Stopped& stop) {
    std::cerr << "starpmc: stopped; go on with: " << how_to_go_on(images) << '\n';
    return 128 + stop.signal;
  }
}

}  // namespace

int run_profile(std::span<const std::string> arguments) {
  return over_ranks([&](Ranks& ranks) { return make_profile(ranks, arguments); });
}

}  // namespace starpmc
