#include "app/subcommands.hpp"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "app/chain_count.hpp"
#include "app/device_succession.hpp"
#include "app/inputs.hpp"
#include "app/interruption.hpp"
#include "app/profile_energies.hpp"
#include "app/profile_estimate.hpp"
#include "app/profile_images.hpp"
#include "app/profile_sampling.hpp"
#include "base/process_age.hpp"
#include "kernels/base/logging.hpp"
#include "mpi/ranks.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

/// "; about so many seconds more", as long as the images so far have taken; empty for the first.
class TimeLeft {
 public:
  std::string at(std::size_t image, std::size_t images) {
    const double now = process_age_seconds();
    if (!begun_) {
      begun_ = {now, image};
      return "";
    }
    const auto [seconds, first] = *begun_;
    const double each = (now - seconds) / static_cast<double>(image - first);
    return fmt::format("; about {:.0f} s more", each * static_cast<double>(images - image));
  }

 private:
  std::optional<std::pair<double, std::size_t>> begun_;
};

/// @throws Stopped
void evaluate(Ranks& ranks, const ProfileImages& images) {
  const std::string announced = ranks.size() == 1 ? "" : how_to_go_on(ranks, images);
  Interruption interruption(ranks.first(), announced);
  const Inputs& inputs = images.inputs();
  std::optional<StarpuRuntime> runtime;
  agree_first_before_others(ranks, [&] {
    runtime.emplace(inputs.settings.run.precision, inputs.settings.run.implementation,
                    inputs.functions);
  });
  if (ranks.first()) {
    for (const std::string& warning : runtime->warnings()) spdlog::warn(warning);
  }
  TimeLeft left;
  write_energy_differences(
      ranks, images,
      [&](std::size_t done, std::size_t total) {
        std::cout << fmt::format("energies of image {} of {} under all Hamiltonians{}\n", done + 1,
                                 total, left.at(done, total))
                  << std::flush;
      },
      [&] { return interruption.requested(); });
}

/// What came of a step that rank 0 alone has made.
struct ProfileOutcome {
  int status;  ///< of the script
  bool again;
};

ProfileOutcome add_images(Ranks& ranks, ProfileImages& images) {
  const nlohmann::json found = of_first(ranks, [&]() -> nlohmann::json {
    write_estimate_input(images);
    const AddedOrNot added = choose_added(images);
    return {added.status, added.after, added.overlaps};
  });
  const std::vector<std::size_t> after = found.at(1);
  const std::vector<double> overlaps = found.at(2);
  if (!after.empty()) agree(ranks, [&] { images.add(after, overlaps); });
  return {found.at(0), !after.empty()};
}

ProfileOutcome estimate(Ranks& ranks, const ProfileImages& images) {
  const nlohmann::json found = of_first(ranks, [&]() -> nlohmann::json {
    const int status = run_estimate(estimate_command(images));
    return {status, status == 0 && plan_more(images)};
  });
  return {found.at(0), found.at(1)};
}

int sample_and_estimate(Ranks& ranks, ProfileImages& images) {
  of_first(ranks, [&] { return estimate_command(images); });  // is all there that it takes?
  ProfileSampling sampling(ranks, images);
  ProfileOutcome made{};
  do {
    do {
      sampling.sample_missing();
      evaluate(ranks, images);
      stop_if_interrupted(ranks);
      made = add_images(ranks, images);
    } while (made.again);
    if (made.status != 0) return made.status;
    made = estimate(ranks, images);
  } while (made.again);
  return made.status;
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

void describe(const ProfileImages& images) {
  for (const std::string& warning : images.inputs().warnings) spdlog::warn(warning);
  for (const std::string& warning : images.path().warnings) spdlog::warn(warning);
  const std::string added = images.added() == 0 ? "" : fmt::format(" ({} added)", images.added());
  std::cout << fmt::format("{} images{} of {}, {:.3f} angstrom u^1/2 long; results in {}\n",
                           images.count(), added, images.inputs().system.solute->name,
                           images.path().images.back().coordinate,
                           images.inputs().settings.output.folder.string())
            << types_of(images) << std::flush;
}

int make_profile(Ranks& ranks, std::span<const std::string> arguments) {
  std::optional<ProfileImages> images;
  agree(ranks, [&] {
    images.emplace(read_inputs(arguments, "profile"));
    require_chains_for_all(ranks, images->inputs().settings.sampling.chains);
  });
  images->open_folder(ranks);
  if (ranks.first()) describe(*images);
  std::optional<DeviceSuccession> succession;
  if (ranks.size() == 1) succession.emplace(arguments_to_go_on(*images));
  try {
    return sample_and_estimate(ranks, *images);
  } catch (const Stopped& stop) {
    if (ranks.first()) {
      std::cerr << "starpmc: stopped; go on with: " << how_to_go_on(ranks, *images) << '\n';
    }
    return 128 + stop.signal;
  }
}

}  // namespace

int run_profile(std::span<const std::string> arguments) {
  return over_ranks([&](Ranks& ranks) { return make_profile(ranks, arguments); });
}

}  // namespace starpmc
