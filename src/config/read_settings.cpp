#include <algorithm>
#include <functional>
#include <system_error>
#include <vector>

#include "base/input_file.hpp"
#include "config/config_file.hpp"
#include "config/describe.hpp"
#include "config/option.hpp"
#include "config/options.hpp"
#include "config/values.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace config {
namespace {

/// Applies assignments to Settings and remembers where each option was given.
class Reader {
 public:
  Reader(const std::filesystem::path& file, InputErrors& errors)
      : places_(file.string()), errors_(errors) {}

  void apply(const Assignments& assignments, const std::filesystem::path& folder) {
    for (const std::string& name : assignments.doubtful) places_.set_doubtful(name);
    for (const Assignment& assignment : assignments.all) {
      places_.set(assignment.name, assignment.place);
      if (!errors_.attempt([&] { set(assignment, folder); })) {
        places_.set_doubtful(assignment.name);
      }
    }
  }

  Settings finish() {
    check_required();
    check({"system.qm-molecule", "system.solute", "qm.engine", "qm.grid-file"},
          [this] { check_qm(); });
    check({"sampling.max-translation", "sampling.max-rotation"}, [this] { check_moves(); });
    check({"qm.interval", "sampling.equilibration-steps"}, [this] { check_qm_interval(); });
    check({"output.energy-interval", "output.pressure-interval"},
          [this] { check_output_intervals(); });
    check_files();
    check_representable();
    return settings_;
  }

  const OptionPlaces& places() const { return places_; }

 private:
  bool given(const std::string& name) const { return places_.given(name); }
  std::string place(const std::string& name) const { return places_(name); }

  void set(const Assignment& assignment, const std::filesystem::path& folder) {
    try {
      find_option(assignment.name)->set(settings_, assignment.value, PathContext{folder});
    } catch (const ValueProblem& problem) {
      throw InputError(assignment.place, problem.what(), assignment.value, problem.remedy);
    }
  }

  /// Of options all of which are what the user wrote.
  /// @return whether there is no error
  bool check(const std::vector<std::string>& names, const std::function<void()>& body) {
    if (std::ranges::any_of(names, [&](const auto& name) { return places_.doubtful(name); }))
      return false;
    return errors_.attempt(body);
  }

  void check_required() {
    for (const Option& option : options()) {
      if (!option.required || given(option.name())) continue;
      check({option.name()}, [&] {
        throw InputError(place(option.name()), "required option is missing", "",
                         "add '" + option.key + " = ...' to section [" + option.section +
                             "]: " + option.meaning);
      });
    }
  }

  void check_qm() {
    auto& qm = settings_.qm;
    if (settings_.system.qm_molecule.empty()) {
      if (given("qm.engine") && qm.engine != "none")
        throw InputError(place("qm.engine"), "a QM engine, but no molecule for it", qm.engine,
                         "name the molecule in system.qm-molecule, or write engine = none");
      if (!settings_.system.solute.empty())
        throw InputError(place("system.solute"), "coordinates of a QM molecule, but none is named",
                         settings_.system.solute.string(),
                         "name the molecule in system.qm-molecule, or remove system.solute");
      if (!given("qm.engine")) check_no_qm_keys();
      qm.engine = "none";
    } else if (qm.engine == "none") {
      throw InputError(place("qm.engine"), "no QM engine for the molecule of system.qm-molecule",
                       "none",
                       "write engine = pyscf, psi4 or frozen, or remove system.qm-molecule");
    }
    if (qm.engine == "frozen" && qm.grid_file.empty())
      throw InputError(place("qm.engine"), "the engine frozen needs a stored density grid",
                       "frozen",
                       "name it in qm.grid-file (output.save-grid of an earlier run writes one)");
  }

  /// Whoever says how the QM molecule is treated has not meant to leave it out.
  void check_no_qm_keys() const {
    for (const Option& option : options()) {
      if (option.section == "qm" && given(option.name()))
        throw InputError(place(option.name()),
                         "an option of quantum mechanics, but no molecule is treated by it",
                         option.get(settings_),
                         "name the molecule in system.qm-molecule, or write qm.engine = none");
    }
  }

  void check_moves() const {
    const auto& sampling = settings_.sampling;
    if (sampling.max_translation_angstrom == 0 && sampling.max_rotation_degrees == 0)
      throw InputError(place("sampling.max-translation"),
                       "nothing would move: max-translation and max-rotation are both 0", "0",
                       "make one of them greater than 0");
  }

  void check_qm_interval() const {
    if (settings_.qm.interval == 0 && settings_.sampling.equilibration_steps == 0U) {
      throw InputError(place("qm.interval"),
                       "it is found during equilibration, of which there is none", "auto",
                       "set sampling.equilibration-steps to auto, or write a number of steps");
    }
  }

  void check_output_intervals() const {
    const auto& output = settings_.output;
    if (output.pressure_interval % output.energy_interval == 0) return;
    throw InputError(
        place("output.pressure-interval"), "not a multiple of output.energy-interval",
        std::to_string(output.pressure_interval),
        "write a multiple of " + std::to_string(output.energy_interval) + ", or 0 for no pressure");
  }

  /// What cannot be read is not tried again.
  void check_file(const std::string& name, std::filesystem::path& path, bool folder) {
    if (!check({name}, [&] { require_file(name, path, folder); })) path.clear();
  }

  void require_file(const std::string& name, const std::filesystem::path& path, bool folder) const {
    if (path.empty()) return;
    std::error_code failure;
    const auto status = std::filesystem::status(path, failure);
    const std::string what = folder ? "folder" : "file";
    if (!std::filesystem::exists(status))
      throw InputError(place(name), "no such " + what, path.string(),
                       "check the path; relative paths in a .cfg file are relative to its folder");
    const bool fits =
        folder ? std::filesystem::is_directory(status) : std::filesystem::is_regular_file(status);
    if (!fits)
      throw InputError(place(name),
                       "not a " + what + (folder ? "" : " but " + kind_of_other_file(path)),
                       path.string(), "name a " + what);
  }

  /// A file, or the folder of a run or of one of its chains.
  void check_coordinates() {
    std::filesystem::path& path = settings_.system.coordinates;
    if (!std::filesystem::is_directory(path)) {
      check_file("system.coordinates", path, false);
      return;
    }
    const bool is_run = check({"system.coordinates"}, [&] {
      if (std::filesystem::exists(path / "settings.cfg") ||
          std::filesystem::exists(path / "trajectory.h5md")) {
        return;
      }
      throw InputError(place("system.coordinates"),
                       "is not the output folder of a run: it has no trajectory.h5md",
                       path.string(), "name a run's folder, a trajectory.h5md or a .gro file");
    });
    if (!is_run) path.clear();
  }

  void check_files() {
    check_coordinates();
    check_file("system.topology", settings_.system.topology, false);
    check_file("system.solute", settings_.system.solute, false);
    check_file("potential.parameters", settings_.potential.parameters, false);
    if (settings_.qm.engine == "frozen") check_file("qm.grid-file", settings_.qm.grid_file, false);
    for (auto& folder : settings_.system.include_folders)
      check_file("system.include-folders", folder, true);
  }

  /// A run must be able to write down what it was told.
  void check_representable() {
    for (const Option& option : options()) {
      check({option.name()}, [&] {
        try {
          config_text(option, settings_);
        } catch (const ValueProblem& problem) {
          throw InputError(place(option.name()), problem.what(), option.get(settings_),
                           problem.remedy);
        }
      });
    }
  }

  Settings settings_;
  OptionPlaces places_;
  InputErrors& errors_;
};

}  // namespace
}  // namespace config

Settings read_settings(const std::filesystem::path& file, std::span<const std::string> overrides,
                       OptionPlaces* places) {
  InputErrors errors(InputErrors::Mode::throw_first);
  return read_settings(file, overrides, places, errors);
}

Settings read_settings(const std::filesystem::path& file, std::span<const std::string> overrides,
                       OptionPlaces* places, InputErrors& errors) {
  config::Reader reader(file, errors);
  reader.apply(config::read_config_file(file, errors), file.parent_path());
  errors.attempt([&] { reader.apply(config::read_overrides(overrides, errors), {}); });
  Settings settings = reader.finish();
  if (places != nullptr) *places = reader.places();
  return settings;
}

void resolve_cutoffs(Settings& settings, const Box& box, const OptionPlaces& places) {
  InputErrors errors(InputErrors::Mode::throw_first);
  resolve_cutoffs(settings, box, places, errors);
}

void resolve_cutoffs(Settings& settings, const Box& box, const OptionPlaces& places,
                     InputErrors& errors) {
  const double longest = box.shortest_edge() / 2;
  const auto check = [&](const char* key, double cutoff) {
    if (cutoff <= longest) return;
    errors.attempt([&] {
      throw InputError(places(key), "cutoff beyond half the shortest edge of the box",
                       config::number_text(cutoff) + " A",
                       "write at most " + config::number_text(longest) +
                           " A, 0 for the longest possible, or take a larger box");
    });
  };
  auto& interaction = settings.interaction;
  if (interaction.coulomb_cutoff_angstrom == 0) interaction.coulomb_cutoff_angstrom = longest;
  check("interaction.coulomb-cutoff", interaction.coulomb_cutoff_angstrom);
  if (interaction.vdw_cutoff_angstrom == 0)
    interaction.vdw_cutoff_angstrom = interaction.coulomb_cutoff_angstrom;
  check("interaction.vdw-cutoff", interaction.vdw_cutoff_angstrom);
}

}  // namespace starpmc
