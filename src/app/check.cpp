#include "app/subcommands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "app/chain_count.hpp"
#include "app/input_checks.hpp"
#include "app/inputs.hpp"
#include "app/preparation_forecast.hpp"
#include "app/profile_images.hpp"
#include "app/qm_forecast.hpp"
#include "app/run_forecast.hpp"
#include "app/run_reference.hpp"
#include "app/sampling_trial.hpp"
#include "base/constants.hpp"
#include "base/free_memory.hpp"
#include "base/input_errors.hpp"
#include "io/file_names.hpp"
#include "io/output_folder.hpp"
#include "kernels/base/shown_text.hpp"
#include "qm/make_engine.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

constexpr double kLongestAnswerToCheckSeconds =
    120;  ///< of a QM program to what it has not computed yet

void print_line(std::string_view name, const std::string& text) {
  std::cout << fmt::format("{:<24}{}\n", name, text);
}

std::string names_of_types(const System& system, std::span<const std::size_t> types) {
  std::vector<std::string> names;
  for (const std::size_t type : std::set<std::size_t>(types.begin(), types.end())) {
    names.push_back(system.force_field.site_type_names[type]);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

void print_molecules(const System& system) {
  std::map<std::size_t, std::size_t> counts;
  for (const Molecule& molecule : system.molecules) ++counts[molecule.type];
  for (const auto& [index, count] : counts) {
    const MoleculeType& type = system.molecule_types[index];
    std::vector<std::size_t> types;
    double charge = 0;
    for (const Site& site : type.sites) {
      types.push_back(site.type);
      charge += site.charge;
    }
    print_line(
        "MM molecules",
        fmt::format("{} {}: {} site{}, {:+.4g} e, types {}", count, type.name, type.sites.size(),
                    type.sites.size() == 1 ? "" : "s", charge, names_of_types(system, types)));
  }
}

void print_solute(const Inputs& inputs) {
  const Solute& solute = *inputs.system.solute;
  const auto& qm = inputs.settings.qm;
  const int electrons =
      std::accumulate(solute.atomic_numbers.begin(), solute.atomic_numbers.end(), -qm.charge);
  print_line("QM molecule",
             fmt::format("{}: {}, charge {:+d} e, {} electrons, multiplicity {}", solute.name,
                         formula(solute), qm.charge, electrons, qm.multiplicity));
  print_line("  its types", names_of_types(inputs.system, solute.types));
  const bool stored = qm.engine == "frozen";
  print_line("QM engine",
             stored
                 ? fmt::format("frozen, density of {}", shown_text(qm.grid_file.string()))
                 : fmt::format("{}, {}/{}, an update every {} steps", qm.engine, qm.method,
                               qm.basis, qm.interval == 0 ? "auto" : std::to_string(qm.interval)));
}

/// The box, as far as it could be read.
void print_system(const Inputs& inputs) {
  const System& system = inputs.system;
  if (system.molecules.empty()) return;
  const Settings& settings = inputs.settings;
  const Vector3& edges = system.box.lengths;
  print_line("System", shown_text(system.title));
  print_line("Box", fmt::format("{:.4f} x {:.4f} x {:.4f} A", edges.x, edges.y, edges.z));
  print_molecules(system);
  if (system.solute) print_solute(inputs);
  // Sums of charges such as 0.417 are not exactly 0.
  const double charge = net_charge(system, settings);
  print_line("Net charge", fmt::format("{:+.4g} e", std::abs(charge) < 1e-6 ? 0 : charge));
  print_line("Cutoffs", fmt::format("{:g} A (Coulomb), {:g} A (van der Waals)",
                                    settings.interaction.coulomb_cutoff_angstrom,
                                    settings.interaction.vdw_cutoff_angstrom));
}

void print_steps(const Settings& settings) {
  const auto& sampling = settings.sampling;
  print_line("Steps",
             fmt::format("{} after {} of equilibration, {} chain{}, {:g} K", sampling.steps,
                         sampling.equilibration_steps
                             ? std::to_string(*sampling.equilibration_steps)
                             : fmt::format("as many as it takes, at most {},", sampling.steps),
                         sampling.chains == 0 ? "auto" : std::to_string(sampling.chains),
                         sampling.chains == 1 ? "" : "s", sampling.temperature_kelvin));
  print_line("Results in", shown_text(settings.output.folder.string()));
}

/// Of a profile that has been begun, which the same configuration goes on with.
bool is_profiles(const Settings& settings) {
  return !settings.profile.path.empty() &&
         std::filesystem::exists(settings.output.folder / profile_topology_name);
}

/// The folder, or the nearest one there is that it would be made in.
void check_output_folder(const Settings& settings) {
  const std::filesystem::path& folder = settings.output.folder;
  OutputFolder::check(folder, settings.output.overwrite, input_paths(settings));
  std::filesystem::path nearest = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(nearest) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  if (std::filesystem::is_directory(nearest) && access(nearest.c_str(), W_OK) == 0) return;
  throw InputError("output.folder", "cannot be written to", nearest.string(),
                   "choose another folder, or make this one a folder that you may write to");
}

/// Everything that a run would do before its first step, or a part of it that serves to find what
/// it would refuse.
class Checker {
 public:
  /// @param body may throw InputError or RunError
  void attempt(const std::function<void()>& body) {
    try {
      errors_.attempt(body);
    } catch (const RunError& error) {
      failures_.emplace_back(error.what());
    }
  }

  void read(std::span<const std::string> arguments) {
    attempt([&] { read_inputs(arguments, "check", inputs_, errors_); });
    if (inputs_.file.empty()) return;
    attempt([&] {
      if (!is_profiles(inputs_.settings)) check_output_folder(inputs_.settings);
    });
    attempt([&] { ask_engine(); });
    if (!inputs_.file.empty() && samples_exactly(inputs_)) {
      attempt([&] { RunReference::check(inputs_, false); });
    }
    if (!inputs_.settings.profile.path.empty()) attempt([&] { images_.emplace(inputs_); });
    warnings_ = inputs_.warnings;
    if (images_) {
      const std::vector<std::string>& of_path = images_->path().warnings;
      warnings_.insert(warnings_.end(), of_path.begin(), of_path.end());
    }
    if (forecast_ && is_large(*forecast_, inputs_.settings, free_memory_mb())) {
      warnings_.push_back(describe(*forecast_, inputs_.settings));
    }
    if (forecast_ && !forecast_->repeatable) {
      warnings_.push_back(why_unrepeatable(inputs_.settings));
    }
  }

  /// Only where a run would start.
  void try_sampling() {
    if (inputs_.file.empty() || !errors_.all().empty() || !failures_.empty()) return;
    attempt([&] {
      const Settings& settings = inputs_.settings;
      const StarpuRuntime runtime(settings.run.precision, settings.run.implementation,
                                  inputs_.functions);
      warnings_.insert(warnings_.end(), runtime.warnings().begin(), runtime.warnings().end());
      const unsigned chains =
          settings.sampling.chains > 0
              ? settings.sampling.chains
              : automatic_chains(runtime.cpu_workers(), runtime.working_devices(),
                                 forecast_ ? forecast_->memory_mb : 0);
      const DensityGrid grid = density_for_trial(inputs_);
      trial_ = starpmc::try_sampling(inputs_, grid, chains);
      points_ = grid.size();
      if (forecast_ && samples_exactly(inputs_) && settings.qm.reference.empty()) {
        preparation_ =
            preparation_forecast(inputs_, *forecast_, trial_, chains, runtime.cpu_workers());
      }
      run_ = run_forecast(settings, trial_, forecast_, preparation_, chains, runtime.cpu_workers());
    });
  }

  void print() const {
    print_system(inputs_);
    if (errors_.all().empty()) print_steps(inputs_.settings);
    if (!ensemble_.empty()) print_line("Ensemble", ensemble_);
    if (run_) print_forecast();
    for (const std::string& note : inputs_.system.notes) print_line("Note", shown_text(note));
    for (const std::string& warning : warnings_) print_line("Warning", shown_text(warning));
    std::cout << std::flush;
    for (const InputError& error : errors_.all()) {
      std::cerr << "starpmc: error: " << error.what() << '\n';
    }
    for (const std::string& failure : failures_) {
      std::cerr << "starpmc: error: " << shown_text(failure, "\t\n") << '\n';
    }
    const std::size_t count = errors_.all().size() + failures_.size();
    if (count > 1) std::cerr << fmt::format("starpmc: {} errors\n", count);
  }

  int exit_status() const { return !errors_.all().empty() ? 2 : failures_.empty() ? 0 : 1; }

 private:
  /// A QM program says what it refuses, and what it expects, before it begins.
  void ask_engine() {
    Settings::QmSection qm = inputs_.settings.qm;
    const auto& solute = inputs_.system.solute;
    if (qm.engine == "none" || qm.engine == "frozen") {
      // What this refuses was refused as the options were read: it needs no QM program to tell.
      if (errors_.all().empty()) ensemble_ = settle_ensemble(inputs_, qm.engine, false);
      if (!solute || qm.engine == "none" || qm.grid_file.empty()) return;
      const auto engine = make_engine(qm, *solute);
      check_electrons(engine->update({}, {}, {}), qm.electron_tolerance);
      return;
    }
    qm.time_limit_seconds = std::min(qm.time_limit_seconds, kLongestAnswerToCheckSeconds);
    if (!solute) {
      WorkerEngine::version_of(worker_command(qm));
      return;
    }
    EngineWatch watch;
    watch.cancel = std::make_shared<CancelSignal>();
    watch.on_forecast = [&](const QmForecast& forecast) {
      forecast_ = forecast;
      watch.cancel->raise();
    };
    bool exact = false;
    try {
      exact = make_engine(qm, *solute, watch, !exact_if_served(inputs_))->serves_exact_ensemble();
    } catch (const Cancelled&) {
      exact = forecast_->exact;  // it has said all that it was asked for
    }
    ensemble_ = settle_ensemble(inputs_, qm.engine, exact);
  }

  void print_forecast() const {
    if (points_ > 0 && !samples_exactly(inputs_)) {
      const auto bytes = static_cast<double>(points_ * 5 * sizeof(double));
      print_line("Density grid", fmt::format("{}{} points, {:.1f} MiB for each chain",
                                             inputs_.settings.qm.engine == "frozen" ? "" : "about ",
                                             points_, bytes / kBytesPerMebibyte));
    }
    if (forecast_) print_line("QM program", describe(*forecast_, inputs_.settings));
    if (preparation_) print_line("Reference", describe(*preparation_));
    print_line("Memory",
               fmt::format("{:.0f} MiB of this program, {:.0f} for each chain (sites, density, "
                           "tables of its steps){}",
                           trial_.memory_mb, trial_.memory_of_chain_mb,
                           forecast_ ? "; the QM programs' besides" : ""));
    print_line("Time", describe(*run_, inputs_.settings, trial_));
    if (images_) print_profile();
  }

  /// What starpmc profile would do with the same configuration.
  void print_profile() const {
    const double images = static_cast<double>(images_->count());
    const bool more = inputs_.settings.profile.until_error_kj_per_mol > 0 ||
                      inputs_.settings.profile.least_overlap > 0;
    print_line(
        "Profile",
        fmt::format("{} images of {}, {:.3f} angstrom u^1/2 long: {}{}, {} times as long as one "
                    "run, and the energies of all frames under all images",
                    images_->count(), shown_text(inputs_.settings.profile.path.string()),
                    images_->path().images.back().coordinate, more ? "at least " : "about ",
                    duration(images * run_->seconds()), images_->count()));
  }

  InputErrors errors_{InputErrors::Mode::collect};
  std::vector<std::string> failures_;  ///< of the machine, not of the input
  std::vector<std::string> warnings_;
  Inputs inputs_;
  std::optional<QmForecast> forecast_;
  std::optional<ProfileImages> images_;  ///< where the configuration is one for a profile
  std::string ensemble_;                 ///< that a run would sample, and why
  std::size_t points_ = 0;
  SamplingTrial trial_;
  std::optional<PreparationForecast> preparation_;
  std::optional<RunForecast> run_;
};

}  // namespace

int run_check(std::span<const std::string> arguments) {
  Checker checker;
  checker.read(arguments);
  checker.try_sampling();
  checker.print();
  return checker.exit_status();
}

}  // namespace starpmc
