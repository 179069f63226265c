#include "app/run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/run_output.hpp"
#include "codelets/codelet.hpp"
#include "config/options.hpp"
#include "config/value_names.hpp"
#include "error.hpp"
#include "io/checked_file.hpp"
#include "io/log.hpp"
#include "qm/make_engine.hpp"
#include "qm/worker_engine.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

EnergyTerms operator-(const EnergyTerms& a, const EnergyTerms& b) {
  return {a.mm_coulomb - b.mm_coulomb, a.mm_vdw - b.mm_vdw, a.qmmm_vdw - b.qmmm_vdw,
          a.qmmm_nuclei - b.qmmm_nuclei, a.qmmm_grid - b.qmmm_grid};
}
EnergyTerms operator+(const EnergyTerms& a, const EnergyTerms& b) {
  return a - (EnergyTerms{} - b);
}

/// Energy of the MM charges with the solute's nuclei and density.
double electrostatic(const EnergyTerms& terms) { return terms.qmmm_nuclei + terms.qmmm_grid; }

/// One simulation: updates of the density in turn with steps of the chain.
class Simulation {
 public:
  /// Whatever can be wrong with the input or the machine is found before the output folder is
  /// touched. The engine starts before StarPU binds the program's threads to cores.
  explicit Simulation(Inputs inputs)
      : inputs_(std::move(inputs)),
        settings_(inputs_.settings),
        engine_(start_engine()),
        runtime_(settings_.run.precision, settings_.run.implementation),
        folder_(settings_.output.folder, settings_.output.overwrite) {
    write_file_atomically(folder_.file("settings.cfg"), settings_as_config(settings_));
    start_file_logging(folder_.file("run.log"), settings_.output.log_level);
    log_inputs();
  }
  ~Simulation() { save_engine_log(); }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  RunSummary run();

 private:
  std::unique_ptr<QmEngine> start_engine() const;
  void save_engine_log() const noexcept;
  void log_inputs() const;
  void log_runtime() const;
  void sample(Chain& chain, RunOutput& output);
  /// Brings the density up to date and the energies with it.
  EnergyTerms update(Chain& chain, std::uint64_t step, const EnergyTerms& before);
  void check_drift(Chain& chain, const EnergyTerms& accumulated);
  void fill_statistics();
  void fill_final_state(Chain& chain);

  Inputs inputs_;
  const Settings& settings_;
  std::unique_ptr<QmEngine> engine_;
  StarpuRuntime runtime_;
  OutputFolder folder_;
  RunSummary summary_;
  EnergyTerms after_update_;  ///< energies right after the last update of the density
};

std::unique_ptr<QmEngine> Simulation::start_engine() const {
  OutputFolder::check(settings_.output.folder, settings_.output.overwrite);
  if (!inputs_.system.solute) return nullptr;
  return make_engine(settings_.qm, *inputs_.system.solute, {});
}

void Simulation::save_engine_log() const noexcept {
  if (engine_ == nullptr || engine_->log().empty()) return;
  try {
    write_file_atomically(folder_.file("qm-worker.log"), engine_->log());
  } catch (const std::exception& error) {
    spdlog::warn("{}", error.what());
  }
}

void Simulation::log_inputs() const {
  const System& system = inputs_.system;
  spdlog::info("starpmc {}: {}", STARPMC_VERSION, inputs_.file);
  spdlog::info("{}: {} MM molecules{}, box {:.4f} x {:.4f} x {:.4f} A", system.title,
               system.molecules.size(),
               system.solute ? fmt::format(" around {} ({} atoms)", system.solute->name,
                                           system.solute->atom_count())
                             : "",
               system.box.lengths.x, system.box.lengths.y, system.box.lengths.z);
  if (engine_ != nullptr) spdlog::info("QM engine: {} {}", engine_->name(), engine_->version());
}

void Simulation::log_runtime() const {
  spdlog::info("StarPU {}, scheduler {}", starpu_version(), runtime_.scheduler());
  for (const WorkerDescription& worker : runtime_.workers()) {
    spdlog::info("worker {}: {}", worker.id, worker.name);
  }
  for (const std::string& warning : runtime_.warnings()) spdlog::warn(warning);
}

EnergyTerms Simulation::update(Chain& chain, std::uint64_t step, const EnergyTerms& before) {
  QmResult result;
  try {
    result = chain.update_density(*engine_);
    check_electrons(result, settings_.qm.electron_tolerance);
  } catch (const RunError& error) {
    throw RunError(fmt::format("step {}: {}\nresults up to this step are in {}", step, error.what(),
                               folder_.path().string()));
  }
  if (!result.fallback.empty()) {
    spdlog::warn("step {}: the SCF did not converge as usual; what helped: {}", step,
                 result.fallback);
  }
  QmUpdateRecord record;
  record.step = step;
  record.qm_energy_kj_per_mol = result.energy_kj_per_mol;
  record.electrons_on_grid = result.electrons_on_grid;
  record.iterations = result.iterations;
  record.seconds_embedding = result.seconds_embedding;
  record.seconds_scf = result.seconds_scf;
  record.seconds_density = result.seconds_density;
  if (settings_.output.save_grid) {
    write_density_grid(folder_.file(fmt::format("grid-{}.bin", summary_.qm_updates.size())),
                       result.grid);
  }
  record.dropped_charge = drop_small_charges(result.grid, settings_.qm.charge_threshold);
  record.grid_points = result.grid.size();
  if (!summary_.qm_updates.empty() && engine_->name() != "frozen") {
    const double full = result.energy_kj_per_mol - summary_.qm_updates.back().qm_energy_kj_per_mol;
    record.jump_kj_per_mol = full - (electrostatic(before) - electrostatic(after_update_));
  }
  save_engine_log();
  chain.set_density(result.grid);
  after_update_ = chain.evaluate();
  spdlog::info(
      "step {}: QM energy {:.6f} kJ/mol, {:.6f} electrons on {} points, jump {:.3f} kJ/mol,"
      " {} iterations, {:.2f} s",
      step, record.qm_energy_kj_per_mol, record.electrons_on_grid, record.grid_points,
      record.jump_kj_per_mol, record.iterations,
      record.seconds_embedding + record.seconds_scf + record.seconds_density);
  summary_.qm_updates.push_back(record);
  return after_update_;
}

void Simulation::check_drift(Chain& chain, const EnergyTerms& accumulated) {
  summary_.final_energies = chain.evaluate();
  const double difference = accumulated.total() - summary_.final_energies.total();
  constexpr double kSuspicious = 1e-6;  // relative; fp32 pair terms stay well below it
  if (std::abs(difference) > kSuspicious * std::max(1e3, std::abs(accumulated.total()))) {
    spdlog::warn(
        "accumulated and recomputed energy differ by {:.3g} kJ/mol: molecules overlap, or a "
        "device computes wrongly",
        difference);
  }
  summary_.drift = summary_.drift + (accumulated - summary_.final_energies);
}

void Simulation::sample(Chain& chain, RunOutput& output) {
  const Settings::SamplingSection& sampling = settings_.sampling;
  const std::uint64_t total = sampling.equilibration_steps + sampling.steps;
  EnergyTerms totals = engine_ != nullptr ? update(chain, 0, {}) : chain.evaluate();
  output.start(totals, chain.molecules());
  const std::uint64_t interval = engine_ != nullptr ? settings_.qm.interval : total;
  std::uint64_t step = 0;
  while (step < total) {
    const bool equilibration = step < sampling.equilibration_steps;
    const std::uint64_t phase_end = equilibration ? sampling.equilibration_steps : total;
    const std::uint64_t end = std::min(phase_end, (step / interval + 1) * interval);
    chain.run({step, end - step, settings_.output.trajectory_interval,
               equilibration ? sampling.tune_interval : 0},
              output);
    step = end;
    if (engine_ != nullptr && step % interval == 0 && step < total) {
      output.on_update(step, summary_.qm_updates.size() + 1);
      check_drift(chain, output.totals());
      update(chain, step, summary_.final_energies);
    }
  }
  check_drift(chain, output.totals());
}

void Simulation::fill_statistics() {
  const auto workers = runtime_.workers();
  summary_.worker_tasks.resize(workers.size());
  for (std::size_t w = 0; w < workers.size(); ++w)
    summary_.worker_tasks[w].worker = workers[w].name;
  for (const codelets::Codelet* codelet : codelets::Codelet::all()) {
    for (unsigned slot = 0; slot < codelets::kSlots; ++slot) {
      CodeletTiming timing{codelet->name(), codelets::implementation_name(slot), 0, 0};
      for (std::size_t w = 0; w < workers.size(); ++w) {
        const auto& counter =
            codelet->statistics().counters[slot][static_cast<std::size_t>(workers[w].id)];
        timing.count += counter.tasks;
        timing.total_seconds += 1e-9 * static_cast<double>(counter.nanoseconds.load());
        summary_.worker_tasks[w].tasks += counter.tasks;
      }
      if (timing.count > 0) summary_.codelet_timings.push_back(timing);
    }
  }
}

void Simulation::fill_final_state(Chain& chain) {
  const StepSizes sizes = chain.step_sizes();
  summary_.final_max_translation_angstrom = sizes.translation_angstrom;
  summary_.final_max_rotation_degrees = sizes.rotation_degrees;
  Sha256 coordinates;
  for (const Molecule& molecule : chain.molecules()) {
    const Quaternion& q = molecule.orientation;
    const double pose[] = {
        molecule.centre.x, molecule.centre.y, molecule.centre.z, q.w, q.x, q.y, q.z};
    coordinates.add(std::span<const double>(pose));
  }
  const CertificationReport certification = chain.certification();
  summary_.certified = {certification.active, certification.bound_kj_per_mol, certification.steps,
                        certification.largest_error_in_bounds};
  if (certification.largest_error_in_bounds > 1) {
    spdlog::warn(
        "an energy change was {:.1f} times its error bound off: a device computes wrongly, or the "
        "bound does not hold for this system; please report it",
        certification.largest_error_in_bounds);
  }
  summary_.final_coordinates_sha256 = coordinates.hexadecimal_digest();
}

RunSummary Simulation::run() {
  const auto start = Clock::now();
  log_runtime();
  {
    const auto chain = make_chain(inputs_.system, settings_, 0);
    RunOutput output(inputs_, folder_);
    sample(*chain, output);
    fill_final_state(*chain);
    output.finish(summary_);
  }
  fill_statistics();
  summary_.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  summary_.steps_per_second =
      static_cast<double>(summary_.steps + summary_.equilibration_steps) / summary_.wall_seconds;
  summary_.title = inputs_.system.title;
  summary_.output_folder = folder_.path();
  summary_.seed = settings_.sampling.seed;
  summary_.precision = value_name(settings_.run.precision);
  summary_.starpmc_version = STARPMC_VERSION;
  summary_.starpu_version = starpu_version();
  summary_.hdf5_version = hdf5_library_version();
  if (engine_ != nullptr) {
    summary_.qm_engine = engine_->name();
    summary_.qm_engine_version = engine_->version();
  }
  write_file_atomically(folder_.file("summary.json"), nlohmann::json(summary_).dump(2) + "\n");
  spdlog::info("finished: {}", folder_.file("summary.json").string());
  return summary_;
}

}  // namespace

int run_simulation(std::span<const std::string> arguments) {
  RunSummary summary;
  try {
    Simulation simulation(read_inputs(arguments, "run"));
    summary = simulation.run();
  } catch (const std::exception& error) {
    spdlog::info("stopped: {}", error.what());  // the log keeps the reason; main prints it
    stop_file_logging();
    throw;
  }
  stop_file_logging();
  std::cout << result_table(summary);
  return 0;
}

}  // namespace starpmc
