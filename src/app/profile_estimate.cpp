#include "app/profile_estimate.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "app/profile_energies.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/installation.hpp"
#include "qm/make_engine.hpp"
#include "qm/spawn.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// An image may have so many times sampling.steps where nothing else is said.
constexpr std::uint64_t kMostRuns = 10;

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

/// Of each image with the next, as `free_energy.py FOLDER --overlaps` has left them.
std::vector<double> overlaps_of(const ProfileImages& images) {
  const fs::path file = images.inputs().settings.output.folder / "profile-overlaps.json";
  const auto found = nlohmann::json::parse(std::ifstream(file), nullptr, false);
  if (found.is_array() && found.size() + 1 == images.count()) return found;
  throw RunError(file.string() + ": cannot be read");
}

}  // namespace

std::vector<std::string> estimate_command(const ProfileImages& images,
                                          std::vector<std::string> arguments) {
  const fs::path script = installed_file(
      {"STARPMC_PROFILE", "profile", "src/profile", "free_energy.py"}, "starpmc profile");
  // -B: nothing is written beside the script.
  std::vector<std::string> command{find_worker_python(images.inputs().settings.qm).string(), "-B",
                                   script.string(),
                                   images.inputs().settings.output.folder.string()};
  std::ranges::move(arguments, std::back_inserter(command));
  return command;
}

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
  const int status = wait_for_end(process.process_id);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

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

AddedOrNot choose_added(const ProfileImages& images) {
  const auto& settings = images.inputs().settings.profile;
  if (settings.least_overlap == 0) return {};
  AddedOrNot added;
  added.status = run_estimate(estimate_command(images, {"--overlaps"}));
  if (added.status != 0) return added;
  added.overlaps = overlaps_of(images);
  const std::uint64_t most =
      settings.most_added_images > 0 ? settings.most_added_images : images.count() - images.added();
  const ChosenNeighbours found =
      choose_neighbours(images.neighbours(added.overlaps), settings.least_overlap,
                        most - std::min<std::uint64_t>(most, images.added()));
  for (const std::size_t image : found.chosen) {
    std::cout << fmt::format(
        "images {} and {} overlap by {:.3f}, {} are wanted: an image between\n", image + 1,
        image + 2, added.overlaps[image], settings.least_overlap);
  }
  std::cout << std::flush;
  if (found.chosen.empty()) write_estimate_input(images, found.reasons);
  added.after = found.chosen;
  return added;
}

}  // namespace starpmc
