#include "app/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/input_checks.hpp"
#include "app/run_reference.hpp"
#include "bench/paper_boxes.hpp"
#include "config/options.hpp"
#include "io/file_names.hpp"
#include "io/stored_state_reader.hpp"
#include "kernels/base/error.hpp"
#include "potential/pair_potential.hpp"

namespace starpmc {
namespace {

/// What an earlier run has left, where its folder or its trajectory is named.
std::optional<StoredState> stored_state(const Settings::SystemSection& files,
                                        const OptionPlaces& places) {
  const bool is_trajectory = is_hdf5_file(files.coordinates);
  if (files.frame && !is_trajectory) {
    throw InputError(places("system.frame"),
                     "a frame, but system.coordinates is no trajectory.h5md",
                     files.coordinates.string(),
                     "leave it out, or name a trajectory.h5md in system.coordinates");
  }
  if (is_trajectory) return read_stored_state(files.coordinates, files.frame);
  if (std::filesystem::is_directory(files.coordinates)) return read_state_of_run(files.coordinates);
  return std::nullopt;
}

constexpr double kSamePlaceAngstrom = 1e-3;

/// Where the chains begin may differ in nothing but the MM molecules' places.
void require_same_but_solvent(const System& first, const System& other,
                              const std::filesystem::path& file, const std::string& place) {
  const auto refuse = [&](const std::string& problem) {
    throw InputError(place, problem, file.string(),
                     "give files of one system, its box and its QM molecule where "
                     "system.coordinates has them");
  };
  if (other.box.lengths != first.box.lengths) refuse("has another box than system.coordinates");
  if (other.molecules.size() != first.molecules.size()) {
    refuse(fmt::format("has {} MM molecules, system.coordinates {}", other.molecules.size(),
                       first.molecules.size()));
  }
  if (!first.solute) return;
  for (std::size_t i = 0; i < first.solute->positions.size(); ++i) {
    if (norm(other.solute->positions[i] - first.solute->positions[i]) < kSamePlaceAngstrom) {
      continue;
    }
    refuse(fmt::format("has atom {} of the QM molecule in another place", i + 1));
  }
}

/// Options without which the files do not make the system that is meant.
bool names_another_system(const OptionPlaces& places) {
  return std::ranges::any_of(
      std::to_array({"system.qm-molecule", "system.solute", "system.defines",
                     "system.include-folders", "system.rigid", "qm.elements"}),
      [&](const char* option) { return places.doubtful(option); });
}

/// @param first of system.coordinates, where these are further files
std::optional<System> read_system_of(const Settings& settings, const OptionPlaces& places,
                                     InputErrors& errors, std::optional<Box>& box,
                                     MoleculeOrder& order, const System* first = nullptr) {
  const Settings::SystemSection& files = settings.system;
  std::optional<StoredState> state;
  const bool found = errors.attempt([&] { state = stored_state(files, places); });
  // A stored density has its electrons already.
  const bool has_own_charge = settings.qm.engine == "frozen" || places.doubtful("qm.charge");
  const SystemFiles named{found ? files.coordinates : std::filesystem::path(),
                          files.topology,
                          files.solute,
                          files.qm_molecule,
                          files.defines,
                          files.include_folders,
                          files.rigid,
                          settings.qm.elements,
                          state ? &*state : nullptr,
                          first,
                          has_own_charge ? std::nullopt : std::optional(settings.qm.charge)};
  if (names_another_system(places)) {
    box = check_system_files(named, errors);
    return std::nullopt;
  }
  std::optional<System> system = read_system(named, errors, box, &order);
  if (!system) return std::nullopt;
  errors.attempt([&] {
    if (!system->molecules.empty()) return;
    throw InputError(files.topology.string(), "there is no MM molecule to move", files.qm_molecule,
                     "add molecules to [ molecules ], e.g. with starpmc solvate");
  });
  return system;
}

/// MM molecules of further files of the system.
/// @param option that names them
std::vector<std::vector<Molecule>> read_starts(const Inputs& inputs,
                                               std::span<const std::filesystem::path> files,
                                               const char* option, const OptionPlaces& places,
                                               InputErrors& errors) {
  std::vector<std::vector<Molecule>> starts;
  const std::string place = places(option);
  for (const std::filesystem::path& file : files) {
    Settings settings = inputs.settings;
    settings.system.coordinates = file;
    settings.system.frame.reset();
    std::optional<Box> box;
    MoleculeOrder order;
    // Their molecules are those of inputs.system, in its reference geometries.
    std::optional<System> system =
        read_system_of(settings, places, errors, box, order, &inputs.system);
    if (!system) continue;
    errors.attempt([&] { require_same_but_solvent(inputs.system, *system, file, place); });
    starts.push_back(std::move(system->molecules));
  }
  return starts;
}

/// What is wrong with the expressions by themselves: any cutoff serves.
void check_expressions_without_system(Settings settings, const OptionPlaces& places,
                                      InputErrors& errors) {
  constexpr double kSomeCutoff = 10;
  const double some = std::max(kSomeCutoff, settings.potential.switch_distance_angstrom + 1);
  for (double* const cutoff :
       {&settings.interaction.coulomb_cutoff_angstrom, &settings.interaction.vdw_cutoff_angstrom}) {
    if (*cutoff == 0) *cutoff = some;
  }
  check_expressions(System(), settings, places, errors);
}

/// The folder of the run that system.coordinates is of: its own, that of one of its chains, or that
/// in which the trajectory lies.
std::optional<std::filesystem::path> run_continued(const Settings& settings) {
  const std::filesystem::path& from = settings.system.coordinates;
  const std::filesystem::path folder = is_hdf5_file(from) ? from.parent_path() : from;
  for (const std::filesystem::path& run :
       {folder, std::filesystem::absolute(folder).parent_path()}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(run / settings_name, ignored)) return run;
    if (!folder.filename().string().starts_with("chain-")) break;
  }
  return std::nullopt;
}

/// Random numbers are those of seed, chain and step, and steps count from 0 in every run.
void warn_of_same_seed(Inputs& inputs, const OptionPlaces& places) {
  const auto& from = inputs.settings.system.coordinates;
  if (!is_hdf5_file(from) && !std::filesystem::is_directory(from)) return;
  const auto run = run_continued(inputs.settings);
  if (!run) return;
  std::uint64_t seed = 0;
  try {
    seed = read_settings(*run / settings_name, {}).sampling.seed;
  } catch (const InputError&) {
    return;  // those of another version
  }
  if (seed != inputs.settings.sampling.seed) return;
  inputs.warnings.push_back(fmt::format(
      "{}: the run that {} is of had the same random numbers, sampling.seed = {}: what both sample "
      "is not independent of each other; give this run another seed",
      places("sampling.seed"), from.string(), seed));
}

/// @throws InputError where the pressure is asked for and cannot be had
std::vector<std::string> warnings_of_virial(const Inputs& inputs, const OptionPlaces& places) {
  if (!inputs.functions.in_mm() && !inputs.functions.in_nuclei()) return {};
  InputErrors errors(inputs.settings.output.pressure_interval > 0 ? InputErrors::Mode::throw_first
                                                                  : InputErrors::Mode::collect);
  std::vector<std::string> warnings;
  errors.attempt([&] { warnings = virial_warnings(inputs.system, inputs.settings, places); });
  if (!errors.collects() && !warnings.empty()) {
    throw InputError(places("output.pressure-interval"), "no pressure: " + warnings.front(), "",
                     "or leave out pressure-interval");
  }
  return warnings;
}

/// What has to fit together.
void complete(Inputs& inputs, const OptionPlaces& places, InputErrors& errors) {
  errors.attempt([&] { check_electron_count(inputs.system, inputs.settings, places); });
  errors.attempt([&] { check_exact_options(inputs, places); });
  errors.attempt(
      [&] { inputs.dispersion = dispersion_correction(inputs.system, inputs.settings, places); });
  if (errors.collects() && !check_expressions(inputs.system, inputs.settings, places, errors)) {
    return;
  }
  errors.attempt([&] {
    PairPotential potential = make_pair_potential(inputs.system, inputs.settings, places);
    inputs.functions = std::move(potential.functions);
    inputs.warnings = inputs.system.warnings;
    const std::vector<std::string> of_virial = warnings_of_virial(inputs, places);
    for (const auto& more :
         {input_warnings(inputs.system, inputs.settings, places), potential.warnings, of_virial}) {
      inputs.warnings.insert(inputs.warnings.end(), more.begin(), more.end());
    }
  });
}

}  // namespace

System system_of_chain(const Inputs& inputs, std::uint32_t number) {
  System system = inputs.system;
  const std::size_t turn = number % (inputs.chain_starts.size() + 1);
  if (turn > 0) system.molecules = inputs.chain_starts[turn - 1];
  return system;
}

System system_of_reference_chain(const Inputs& inputs, std::uint32_t number) {
  if (inputs.reference_starts.empty()) return system_of_chain(inputs, number);
  System system = inputs.system;
  system.molecules = inputs.reference_starts[number % inputs.reference_starts.size()];
  return system;
}

std::vector<InputPath> input_paths(const Settings& settings) {
  const Settings::SystemSection& system = settings.system;
  std::vector<InputPath> paths{{"system.coordinates", system.coordinates},
                               {"system.topology", system.topology},
                               {"system.solute", system.solute},
                               {"potential.parameters", settings.potential.parameters},
                               {"qm.grid-file", settings.qm.grid_file},
                               {"qm.reference", settings.qm.reference},
                               {"profile.path", settings.profile.path}};
  const auto add = [&](const char* option, const std::vector<std::filesystem::path>& files) {
    for (const std::filesystem::path& file : files) paths.push_back({option, file});
  };
  add("system.chain-coordinates", system.chain_coordinates);
  add("system.reference-coordinates", system.reference_coordinates);
  add("profile.topologies", settings.profile.topologies);
  std::erase_if(paths, [](const InputPath& input) { return input.path.empty(); });
  return paths;
}

System read_system_with(const Settings& settings, const std::filesystem::path& topology) {
  InputErrors errors(InputErrors::Mode::throw_first);
  Settings other = settings;
  other.system.topology = topology;
  std::optional<Box> box;
  MoleculeOrder order;
  const OptionPlaces places(topology.string());
  return std::move(*read_system_of(other, places, errors, box, order));
}

Inputs read_inputs(std::span<const std::string> arguments, const std::string& command) {
  InputErrors errors(InputErrors::Mode::throw_first);
  Inputs inputs;
  read_inputs(arguments, command, inputs, errors);
  return inputs;
}

void read_inputs(std::span<const std::string> arguments, const std::string& command, Inputs& inputs,
                 InputErrors& errors) {
  if (arguments.empty() || arguments[0].starts_with("--")) {
    throw InputError("command line", "no configuration file", arguments.empty() ? "" : arguments[0],
                     "write: starpmc " + command + " FILE.cfg [--section.key value ...]");
  }
  inputs.file = arguments[0];
  make_paper_boxes_of(inputs.file);
  OptionPlaces places(inputs.file);
  inputs.settings = read_settings(inputs.file, arguments.subspan(1), &places, errors);
  std::optional<Box> box;
  std::optional<System> system = read_system_of(inputs.settings, places, errors, box, inputs.order);
  if (box) resolve_cutoffs(inputs.settings, *box, places, errors);
  if (!system) {
    check_expressions_without_system(inputs.settings, places, errors);
    return;
  }
  inputs.system = std::move(*system);
  const Settings::SystemSection& files = inputs.settings.system;
  inputs.chain_starts =
      read_starts(inputs, files.chain_coordinates, "system.chain-coordinates", places, errors);
  inputs.reference_starts = read_starts(inputs, files.reference_coordinates,
                                        "system.reference-coordinates", places, errors);
  complete(inputs, places, errors);
  const bool runs =
      command == "run" || (command == "check" && inputs.settings.profile.path.empty());
  if (runs) warn_of_same_seed(inputs, places);
}

}  // namespace starpmc
