#include "app/profile_energies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/profile_hamiltonian.hpp"
#include "app/run_reference.hpp"
#include "base/checked_file.hpp"
#include "base/constants.hpp"
#include "io/hdf5_handle.hpp"
#include "io/json_text.hpp"
#include "io/output_folder.hpp"
#include "io/reference_file.hpp"
#include "io/trajectory_reader.hpp"
#include "kernels/base/error.hpp"
#include "system/pose_transfer.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDifferencesName = "dhdl.xvg";

/// Frames of an image's production that are evaluated, spread evenly.
struct FrameChoice {
  std::uint64_t taken;
  std::uint64_t of;

  /// @param number of a frame of one chain, from 1 on
  bool takes(std::uint64_t number) const {
    return taken >= of || number * taken / of > (number - 1) * taken / of;
  }
};

/// One chain of an image's run.
struct SampledChain {
  fs::path folder;
  std::uint64_t equilibration_steps;
  FrameChoice choice;
};

nlohmann::json summary_of(const ProfileImages& images, std::size_t image) {
  const fs::path file = images.folder(image) / "summary.json";
  auto summary = nlohmann::json::parse(std::ifstream(file), nullptr, false);
  if (summary.is_object()) return summary;
  throw InputError(file.string(), "cannot be read", "",
                   "put it back, or remove the folder so that the image is sampled again");
}

FrameChoice choice_of(const Settings& settings, const nlohmann::json& chains) {
  const std::uint64_t interval = settings.output.trajectory_interval;
  std::uint64_t frames = 0;
  for (const nlohmann::json& chain : chains) {
    frames += chain.at("steps").get<std::uint64_t>() / interval;
  }
  const std::uint64_t most = settings.profile.most_frames;
  return {most == 0 ? frames : std::min(most, frames), frames};
}

std::vector<SampledChain> chains_of(const ProfileImages& images, std::size_t image) {
  const nlohmann::json summary = summary_of(images, image);
  const fs::path folder = images.folder(image);
  const auto of_chains = summary.value("chains", nlohmann::json::array({summary}));
  const FrameChoice choice = choice_of(images.inputs().settings, of_chains);
  const std::vector<fs::path> folders = OutputFolder::chain_folders_of(folder);
  if (folders.size() < of_chains.size()) {
    throw InputError(folder.string(), "folders of chains are missing",
                     fmt::format("{} of {}", folders.size(), of_chains.size()),
                     "put them back, or remove the folder so that the image is sampled again");
  }
  std::vector<SampledChain> chains;
  for (const nlohmann::json& chain : of_chains) {
    chains.push_back(
        {folders[chains.size()], chain.at("equilibration_steps").get<std::uint64_t>(), choice});
  }
  return chains;
}

/// Energies of the frames of one chain under all Hamiltonians.
struct ChainEnergies {
  FrameChoice choice;
  std::vector<std::int64_t> steps;
  std::vector<std::vector<double>> of_images;  ///< [image][frame], kJ/mol
};

/// @param transfer from the file's reference geometries to the system's
std::vector<Molecule> molecules_of(const TrajectoryFrame& frame, const System& system,
                                   const PoseTransfer& transfer) {
  std::vector<Molecule> molecules = system.molecules;
  for (std::size_t m = 0; m < molecules.size(); ++m) {
    const double* const x = &frame.centres[3 * m];
    const double* const q = &frame.orientations[4 * m];
    molecules[m].centre = {x[0], x[1], x[2]};
    molecules[m].orientation = {q[0], q[1], q[2], q[3]};
  }
  return transfer(molecules);
}

/// Some frames of production.
struct Frames {
  std::vector<std::int64_t> steps;
  std::vector<std::vector<Molecule>> molecules;
};

constexpr std::size_t kFramesAtOnce = 256;

/// Those of a chain's production that are evaluated, some at a time.
class ProductionFrames {
 public:
  ProductionFrames(const SampledChain& chain, const System& system)
      : chain_(chain),
        system_(system),
        reader_(open(chain, system)),
        transfer_(reader_->molecule_types(), system.molecule_types, path_in(chain)) {}
  /// None: there are no more.
  Frames next() {
    Frames frames;
    for (; next_ < reader_->frame_count() && frames.steps.size() < kFramesAtOnce; ++next_) {
      TrajectoryFrame frame;
      {
        const std::lock_guard lock(hdf5::library_mutex());
        frame = reader_->read_poses(next_);
      }
      if (frame.step <= static_cast<std::int64_t>(chain_.equilibration_steps)) continue;
      if (!chain_.choice.takes(++produced_)) continue;
      frames.steps.push_back(frame.step);
      frames.molecules.push_back(molecules_of(frame, system_, transfer_));
    }
    return frames;
  }

 private:
  static fs::path path_in(const SampledChain& chain) { return chain.folder / "trajectory.h5md"; }
  struct CloseUnderLock {
    void operator()(TrajectoryReader* reader) const {
      const std::lock_guard lock(hdf5::library_mutex());
      std::default_delete<TrajectoryReader>{}(reader);
    }
  };
  using Reader = std::unique_ptr<TrajectoryReader, CloseUnderLock>;

  static Reader open(const SampledChain& chain, const System& system) {
    const std::lock_guard lock(hdf5::library_mutex());
    return Reader(std::make_unique<TrajectoryReader>(path_in(chain), system).release());
  }

  const SampledChain& chain_;
  const System& system_;
  std::uint64_t next_ = 0;
  std::uint64_t produced_ = 0;
  Reader reader_;
  /// Where coordinates tell a molecule's geometry, it lies in each image's run as in its own.
  PoseTransfer transfer_;
};

/// GROMACS's name of the state of an image: its place on the path from 0 to 1.
std::string lambda_of(std::size_t image, std::size_t count) {
  return fmt::format("{:.6f}", static_cast<double>(image) / static_cast<double>(count - 1));
}

/// In GROMACS's form, which alchemlyb and `gmx bar` read.
std::string xvg_header(std::size_t images, std::size_t own, const FrameChoice& choice,
                       double temperature_kelvin) {
  std::string text = fmt::format(
      "# Energies of the other images less that of image {} for what was sampled with it: its\n"
      "# sampled Hamiltonian, with its dispersion correction. The time is the Monte Carlo step. Of "
      "{}\n"
      "# frames of its production {}.\n"
      "@    title \"\\xD\\f{{}}H\"\n"
      "@    xaxis  label \"Time (ps)\"\n"
      "@    yaxis  label \"\\xD\\f{{}}H (kJ/mol)\"\n"
      "@TYPE xy\n"
      "@ subtitle \"T = {:.7g} (K) \\xl\\f{{}} state {}: fep-lambda = {}\"\n"
      "@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n@ legend loctype view\n"
      "@ legend 0.78, 0.8\n@ legend length 2\n",
      own + 1, choice.of, choice.taken, temperature_kelvin, own, lambda_of(own, images));
  for (std::size_t k = 0; k < images; ++k) {
    text +=
        fmt::format("@ s{} legend \"\\xD\\f{{}}H \\xl\\f{{}} to {}\"\n", k, lambda_of(k, images));
  }
  return text;
}

std::string xvg_text(const ChainEnergies& chain, std::size_t own, double temperature_kelvin) {
  const std::size_t images = chain.of_images.size();
  std::string text = xvg_header(images, own, chain.choice, temperature_kelvin);
  for (std::size_t frame = 0; frame < chain.steps.size(); ++frame) {
    text += fmt::format("{:.4f}", static_cast<double>(chain.steps[frame]));
    for (std::size_t k = 0; k < images; ++k) {
      text += fmt::format(" {:.6f}", chain.of_images[k][frame] - chain.of_images[own][frame]);
    }
    text += '\n';
  }
  return text;
}

/// Whether it is of these images: where some have been added, there are more.
bool is_of_these(const ProfileImages& images, std::size_t image, const FrameChoice& choice,
                 const fs::path& file) {
  const std::string header = xvg_header(images.count(), image, choice,
                                        images.inputs().settings.sampling.temperature_kelvin);
  std::string found(header.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(found.data(), static_cast<std::streamsize>(found.size()));
  return stream && found == header && stream.peek() != '@';
}

/// Whether it is of these images, and nothing that it is made from is newer.
bool is_current(const ProfileImages& images, std::size_t image, const SampledChain& chain) {
  const fs::path file = chain.folder / kDifferencesName;
  std::error_code missing;
  const auto written = fs::last_write_time(file, missing);
  if (missing || !is_of_these(images, image, chain.choice, file)) return false;
  const auto older = [&](const fs::path& source) { return fs::last_write_time(source) < written; };
  if (!older(images.folder(image) / "summary.json")) return false;
  for (std::size_t other = 0; other < images.count(); ++other) {
    if (!older(RunReference::path_in(images.folder(other)))) return false;
  }
  return true;
}

/// Evaluates the frames of all images.
class Evaluation {
 public:
  Evaluation(Ranks& ranks, const ProfileImages& images, const std::function<bool()>& stop)
      : ranks_(ranks), images_(images), stop_(stop) {}

  /// @return of an image those whose energies are yet to be written
  std::vector<SampledChain> outdated(std::size_t image) const;
  /// @param chains one for each rank at most
  /// @return whether it came to its end
  bool write(std::size_t image, std::span<const SampledChain> chains);

 private:
  std::optional<std::string> text_of(std::size_t image, const SampledChain& chain);
  bool add(const Frames& frames, ChainEnergies& sampled);

  Ranks& ranks_;
  const ProfileImages& images_;
  const std::function<bool()>& stop_;
  std::optional<ImageHamiltonians> hamiltonians_;  ///< made when they are needed
};

std::vector<SampledChain> Evaluation::outdated(std::size_t image) const {
  const nlohmann::json found = of_first(ranks_, [&] {
    nlohmann::json list = nlohmann::json::array();
    for (const SampledChain& chain : chains_of(images_, image)) {
      if (is_current(images_, image, chain)) continue;
      list.push_back(
          {chain.folder.string(), chain.equilibration_steps, chain.choice.taken, chain.choice.of});
    }
    return list;
  });
  std::vector<SampledChain> chains;
  for (const nlohmann::json& chain : found) {
    chains.push_back({chain.at(0).get<std::string>(), chain.at(1), {chain.at(2), chain.at(3)}});
  }
  return chains;
}

bool Evaluation::add(const Frames& frames, ChainEnergies& sampled) {
  if (stop_()) return false;
  const std::vector<std::vector<double>> energies = (*hamiltonians_)(frames.molecules, stop_);
  if (energies.empty()) return false;
  std::ranges::copy(frames.steps, std::back_inserter(sampled.steps));
  for (std::size_t under = 0; under < energies.size(); ++under) {
    std::ranges::copy(energies[under], std::back_inserter(sampled.of_images[under]));
  }
  return true;
}

/// None where it was stopped.
std::optional<std::string> Evaluation::text_of(std::size_t image, const SampledChain& chain) {
  if (!hamiltonians_) hamiltonians_.emplace(images_);
  ChainEnergies sampled{chain.choice, {}, {}};
  sampled.of_images.resize(images_.count());
  const System system = images_.system_of(image);
  ProductionFrames production(chain, system);
  const auto read = [&] { return production.next(); };
  // Read while those before are evaluated: on many cores that takes no longer.
  Frames frames = read();
  while (!frames.steps.empty()) {
    std::future<Frames> following = std::async(std::launch::async, read);
    if (!add(frames, sampled)) return std::nullopt;
    frames = following.get();
  }
  return xvg_text(sampled, image, images_.inputs().settings.sampling.temperature_kelvin);
}

bool Evaluation::write(std::size_t image, std::span<const SampledChain> chains) {
  nlohmann::json mine;  // null: not made
  agree(ranks_, [&] {
    if (ranks_.rank() >= chains.size()) return;
    if (auto text = text_of(image, chains[ranks_.rank()])) mine = std::move(*text);
  });
  const std::vector<nlohmann::json> texts = ranks_.all(mine);
  agree(ranks_, [&] {
    for (std::size_t k = 0; ranks_.first() && k < chains.size(); ++k) {
      if (texts[k].is_null()) continue;
      write_file_atomically(chains[k].folder / kDifferencesName,
                            texts[k].get_ref<const std::string&>());
    }
  });
  return std::ranges::none_of(std::span(texts).first(chains.size()), &nlohmann::json::is_null);
}

}  // namespace

bool write_energy_differences(Ranks& ranks, const ProfileImages& images,
                              const std::function<void(std::size_t, std::size_t)>& tell,
                              const std::function<bool()>& stop) {
  Evaluation evaluation(ranks, images, stop);
  for (std::size_t image = 0; image < images.count(); ++image) {
    const std::vector<SampledChain> chains = evaluation.outdated(image);
    if (!chains.empty() && ranks.first()) tell(image, images.count());
    for (std::size_t first = 0; first < chains.size(); first += ranks.size()) {
      const std::size_t count = std::min<std::size_t>(ranks.size(), chains.size() - first);
      if (!evaluation.write(image, std::span(chains).subspan(first, count))) return false;
    }
  }
  return true;
}

void write_estimate_input(const ProfileImages& images,
                          std::span<const std::string> no_image_to_next) {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t image = 0; image < images.count(); ++image) {
    const fs::path file = RunReference::path_in(images.folder(image));
    const SoluteReference reference = read_reference(file, file.string(), "sample it again");
    nlohmann::json folders = nlohmann::json::array();
    for (const SampledChain& chain : chains_of(images, image)) {
      folders.push_back(fs::relative(chain.folder, images.inputs().settings.output.folder));
    }
    list.push_back({{"folder", images.folder(image).filename()},
                    {"chains", folders},
                    {"reaction_coordinate", images.path().images[image].coordinate},
                    {"isolated_energy_kj_per_mol", reference.isolated_energy_kj_per_mol},
                    {"reference_energy_kj_per_mol", reference.solute_energy_kj_per_mol},
                    {"reference_dipole_debye", reference.dipole_debye}});
    if (image < no_image_to_next.size() && !no_image_to_next[image].empty()) {
      list.back()["no_image_to_next"] = no_image_to_next[image];
    }
  }
  const Settings& settings = images.inputs().settings;
  const nlohmann::json input{{"temperature_kelvin", settings.sampling.temperature_kelvin},
                             {"kt_kj_per_mol", kGasConstant * settings.sampling.temperature_kelvin},
                             {"title", images.inputs().system.title},
                             {"starpmc_version", STARPMC_VERSION},
                             {"images", list}};
  write_file_atomically(settings.output.folder / "profile-input.json", json_text(input));
}

}  // namespace starpmc
