#include "app/run_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/run_reference.hpp"
#include "app/system_pressure.hpp"
#include "base/checked_file.hpp"
#include "io/checkpoint.hpp"
#include "io/energy_terms_json.hpp"
#include "io/final_state.hpp"

namespace starpmc {
namespace {

/// Steps between looks at the clock.
constexpr std::uint64_t kReportInterval = 64;
/// Of lines and frames of a chain that wait to be written.
constexpr std::size_t kMostBytesWaiting = std::size_t{32} << 20;

EnergyTable open_energies(const std::filesystem::path& path, const Inputs& inputs,
                          const nlohmann::json* resumed) {
  const bool pressure = inputs.settings.output.pressure_interval > 0;
  const double constant = inputs.dispersion.energy_kj_per_mol;
  const bool reference = samples_exactly(inputs);
  if (resumed == nullptr) return EnergyTable(path, pressure, constant, reference);
  return EnergyTable::resume(path, RunOutput::energies_extent(*resumed), pressure, constant,
                             reference);
}

/// A run that may end early has halves of what it has so far.
std::uint64_t expected_samples(const Settings::SamplingSection& sampling, std::uint64_t interval) {
  return sampling.until_error_kj_per_mol > 0 || interval == 0 ? 0 : sampling.steps / interval;
}

Trajectory open_trajectory(const std::filesystem::path& path, const System& system,
                           const nlohmann::json* resumed) {
  const TrajectoryOptions options{.creator_version = STARPMC_VERSION};
  if (resumed == nullptr) return {path, system, options};
  return Trajectory::resume(path, system, options, RunOutput::trajectory_extent(*resumed));
}

}  // namespace

FileExtent RunOutput::energies_extent(const nlohmann::json& state) {
  return {state.at("energies_bytes").get<std::uint64_t>(),
          state.at("energies_sha256").get<std::string>()};
}

TrajectoryExtent RunOutput::trajectory_extent(const nlohmann::json& state) {
  return {state.at("trajectory_frames").get<std::uint64_t>(),
          state.at("trajectory_sha256").get<std::string>()};
}

void RunOutput::check_files(const ChainFolder& folder, const System& system,
                            const nlohmann::json& state) {
  hash_of_beginning(folder.file("energies.csv"), energies_extent(state));
  Trajectory::check(folder.file("trajectory.h5md"), system, trajectory_extent(state));
}

RunOutput::RunOutput(const Inputs& inputs, const ChainFolder& folder, ProgressReport report,
                     const nlohmann::json* resumed)
    : inputs_(inputs),
      settings_(inputs.settings),
      folder_(folder),
      energies_(open_energies(folder.file("energies.csv"), inputs, resumed)),
      trajectory_(open_trajectory(folder.file("trajectory.h5md"), inputs.system, resumed)),
      report_(std::move(report)),
      equilibration_steps_(settings_.sampling.equilibration_steps.value_or(
          std::numeric_limits<std::uint64_t>::max())),
      statistics_(expected_samples(settings_.sampling, settings_.output.energy_interval)),
      pressures_(expected_samples(settings_.sampling, settings_.output.pressure_interval)),
      writer_(kMostBytesWaiting, [this] {
        energies_.flush();
        trajectory_.flush();
      }) {
  const Settings::SamplingSection& sampling = settings_.sampling;
  state_.total_steps = sampling.equilibration_steps.value_or(0) + sampling.steps;
  const std::filesystem::path pdb = folder.file("system.pdb");
  if (resumed == nullptr || !std::filesystem::exists(pdb))
    write_system_pdb(pdb, inputs.system, inputs.system.molecules);
  if (resumed != nullptr) restore(*resumed);
}

void RunOutput::set_equilibration(std::uint64_t steps) {
  equilibration_steps_ = steps;
  state_.total_steps = steps + settings_.sampling.steps;
}

void RunOutput::take_more_steps() {
  const Settings::SamplingSection& sampling = settings_.sampling;
  ChainStatistics energies(expected_samples(sampling, settings_.output.energy_interval));
  ChainStatistics pressures(expected_samples(sampling, settings_.output.pressure_interval));
  const std::filesystem::path table = folder_.file("energies.csv");
  EnergyTable::for_each_sample(table, [&](const EnergyTable::Sample& sample) {
    if (sample.step <= equilibration_steps_) return;
    energies.add(sample.total);
    if (sample.pressure_bar) pressures.add(*sample.pressure_bar);
  });
  if (energies.count() != statistics_.count() || pressures.count() != pressures_.count()) {
    throw RunError(fmt::format("{}: has {} samples of production, the checkpoint {}",
                               table.string(), energies.count(), statistics_.count()));
  }
  statistics_ = std::move(energies);
  pressures_ = std::move(pressures);
}

nlohmann::json RunOutput::state() const {
  nlohmann::json state{{"decisions", decisions_.state()},
                       {"qmmm_coulomb", qmmm_coulomb_.state()},
                       {"solute", solute_.state()},
                       {"total", total_.state()},
                       {"statistics", statistics_.state()},
                       {"pressures", pressures_.state()},
                       {"totals", totals_},
                       {"solute_energy", solute_energy_},
                       {"accepted", accepted_},
                       {"accepted_production", accepted_production_}};
  state["terms"] = nlohmann::json::array();
  for (const BlockAverage& term : terms_) state["terms"].push_back(term.state());
  return state;
}

void RunOutput::save(nlohmann::json checkpoint) {
  // At most one waits, however large: it may hold a density grid.
  if (checkpoints_asked_ != checkpoints_written_) writer_.wait();
  ++checkpoints_asked_;
  writer_.add(1, [this, content = std::move(checkpoint)]() mutable {
    const auto start = std::chrono::steady_clock::now();
    energies_.flush();
    trajectory_.flush();
    const FileExtent energies = energies_.extent();
    const TrajectoryExtent trajectory = trajectory_.extent();
    content["output"]["energies_bytes"] = energies.bytes;
    content["output"]["energies_sha256"] = energies.sha256;
    content["output"]["trajectory_frames"] = trajectory.frames;
    content["output"]["trajectory_sha256"] = trajectory.last_frame_sha256;
    for (const char* name : {"energies.csv", "trajectory.h5md"})
      synchronise_file(folder_.file(name));
    write_checkpoint(folder_.path(), content);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    checkpoint_seconds_ = took.count();
    ++checkpoints_written_;
  });
}

void RunOutput::append_frame(std::uint64_t step, std::span<const Molecule> molecules) {
  writer_.add(molecules.size_bytes(),
              [this, step, state = std::vector<Molecule>(molecules.begin(), molecules.end())] {
                trajectory_.append(step, state);
              });
}

void RunOutput::append_energies(std::uint64_t step, double acceptance,
                                const std::optional<EnergyTable::Pressure>& pressure) {
  constexpr std::size_t bytes = 256;  // of a line and what it is made of
  writer_.add(bytes, [this, step, totals = totals_, solute = solute_energy_, acceptance, pressure] {
    energies_.append(step, totals, solute, acceptance, pressure);
  });
}

void RunOutput::restore(const nlohmann::json& state) {
  decisions_.restore(state.at("decisions"));
  qmmm_coulomb_.restore(state.at("qmmm_coulomb"));
  solute_.restore(state.at("solute"));
  total_.restore(state.at("total"));
  statistics_.restore(state.at("statistics"));
  pressures_.restore(state.at("pressures"));
  // A state saved before there were the last terms has fewer.
  const nlohmann::json& terms = state.at("terms");
  for (std::size_t i = 0; i < std::min(std::size(terms_), terms.size()); ++i) {
    terms_[i].restore(terms[i]);
  }
  state.at("totals").get_to(totals_);
  solute_energy_ = state.at("solute_energy");
  accepted_ = state.at("accepted");
  accepted_production_ = state.at("accepted_production");
}

void RunOutput::start(const EnergyTerms& totals, Chain& chain) {
  totals_ = totals;
  std::optional<EnergyTable::Pressure> pressure;
  if (settings_.output.pressure_interval > 0) pressure = pressure_of(chain.virial());
  append_energies(0, 0, pressure);
  append_frame(0, chain.molecules());
}

void RunOutput::on_update(std::uint64_t step, std::uint64_t updates, std::uint64_t expected) {
  state_.qm_update = updates;
  state_.qm_updates = expected;
  state_.phase = "QM update";
  report(step);
}

void RunOutput::on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) {
  decisions_.add(accepted);
  totals_ = totals;
  const bool production = step > equilibration_steps_;
  accepted_ += accepted ? 1 : 0;
  accepted_production_ += production && accepted ? 1 : 0;
  const std::uint64_t interval = settings_.output.pressure_interval;
  const bool awaits_virial = interval > 0 && step % interval == 0;
  if (step % settings_.output.energy_interval == 0 && !awaits_virial) add_sample(step, {});
  if (step % kReportInterval == 0 || step == state_.total_steps) {
    state_.phase = production ? "production" : "equilibration";
    state_.acceptance = static_cast<double>(accepted_) / static_cast<double>(step);
    report(step);
  }
}

void RunOutput::add_sample(std::uint64_t step,
                           const std::optional<EnergyTable::Pressure>& pressure) {
  append_energies(step, static_cast<double>(accepted_) / static_cast<double>(step), pressure);
  if (step <= equilibration_steps_) return;
  const auto values = totals_.values();
  for (std::size_t i = 0; i < values.size(); ++i) terms_[i].add(values[i]);
  qmmm_coulomb_.add(totals_.qmmm_coulomb());
  solute_.add(solute_energy_);
  const double total = total_energy();
  total_.add(total);
  statistics_.add(total);
  if (pressure) pressures_.add(pressure->pressure_bar);
}

EnergyTable::Pressure RunOutput::pressure_of(const VirialTerms& terms) const {
  const double virial = terms.virials.total();
  return {virial, system_pressure_bar(inputs_, virial)};
}

void RunOutput::on_virial(std::uint64_t step, const VirialTerms& terms) {
  add_sample(step, pressure_of(terms));
}

void RunOutput::on_frame(std::uint64_t step, std::span<const Molecule> molecules) {
  append_frame(step, molecules);
}

void RunOutput::report(std::uint64_t step) {
  state_.step = step;
  report_(state_);
}

void RunOutput::write_final_state(std::span<const Molecule> molecules) const {
  write_file_atomically(folder_.file("final.gro"),
                        gro_text(inputs_.system, molecules, inputs_.order));
  write_system_pdb(folder_.file("final.pdb"), inputs_.system, molecules);
}

void RunOutput::finish(ChainSummary& summary) {
  // By the thread that may be handing them over just now, as it does when it is idle.
  writer_.add(1, [this] {
    energies_.close();
    trajectory_.close();
  });
  writer_.wait();
  if (summary.steps > 0) {
    summary.acceptance =
        static_cast<double>(accepted_production_) / static_cast<double>(summary.steps);
  }
  for (std::size_t i = 0; i < summary.averages.terms.size(); ++i) {
    summary.averages.terms[i] = terms_[i].estimate();
  }
  summary.averages.qmmm_coulomb = qmmm_coulomb_.estimate();
  summary.averages.solute = solute_.estimate();
  summary.averages.total = total_.estimate();
  summary.final_solute_energy_kj_per_mol = solute_energy_;
  summary.dispersion_correction_kj_per_mol = inputs_.dispersion.energy_kj_per_mol;
  summary.averages.pressure_bar = pressures_.estimate();
  summary.decisions_sha256 = decisions_.hexadecimal_digest();
}

}  // namespace starpmc
