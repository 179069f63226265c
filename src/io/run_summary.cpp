#include "io/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/constants.hpp"
#include "io/hdf5_handle.hpp"
#include "io/json_fields.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

/// JSON has no "not a number".
json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

/// Of no samples there is none.
json mean_or_null(double mean, std::uint64_t count) { return count > 0 ? json(mean) : json(); }

json terms_json(const EnergyTerms& terms, bool reference) {
  json object;
  const auto values = terms.values();
  for (std::size_t i = 0; i < EnergyTerms::count(reference); ++i)
    object[std::string(EnergyTerms::names[i])] = values[i];
  object["total"] = terms.total();
  return object;
}

/// Of what is the same in each sample.
AverageEstimate constant(double value, std::uint64_t count) {
  AverageEstimate average;
  average.mean = value;
  average.count = count;
  average.long_enough = true;
  return average;
}

json averages_json(const ChainSummary& chain) {
  const EnergyAverages& averages = chain.averages;
  json object;
  for (std::size_t i = 0; i < EnergyTerms::count(chain.reference); ++i)
    object[std::string(EnergyTerms::names[i])] = average_json(averages.terms[i]);
  if (chain.dispersion_correction_kj_per_mol != 0) {
    object["dispersion_correction"] =
        average_json(constant(chain.dispersion_correction_kj_per_mol, averages.total.count));
  }
  object["qmmm_coulomb"] = average_json(averages.qmmm_coulomb);
  object["solute"] = average_json(averages.solute);
  object["total"] = average_json(averages.total);
  if (averages.pressure_bar.count > 0) {
    object["pressure_bar"] = average_json(averages.pressure_bar);
  }
  return object;
}

json final_energies_json(const ChainSummary& chain) {
  json object = terms_json(chain.final_energies, chain.reference);
  object["qmmm_coulomb"] = chain.final_energies.qmmm_coulomb();
  object["solute"] = chain.final_solute_energy_kj_per_mol;
  if (chain.dispersion_correction_kj_per_mol != 0) {
    object["dispersion_correction"] = chain.dispersion_correction_kj_per_mol;
  }
  object["total"] = chain.final_energies.total() + chain.final_solute_energy_kj_per_mol +
                    chain.dispersion_correction_kj_per_mol;
  return object;
}

json updates_average_json(const QmAverages& averages) {
  json object = json::object();
  if (averages.dipole_debye.count > 0) {
    object["dipole_debye"] = average_json(averages.dipole_debye);
    auto& components = object["dipole_components_debye"] = json::array();
    for (const auto& component : averages.dipole_components_debye) {
      components.push_back(average_json(component));
    }
  }
  if (averages.polarisation_energy_kj_per_mol.count > 0) {
    object["polarisation_energy_kj_per_mol"] =
        average_json(averages.polarisation_energy_kj_per_mol);
  }
  if (averages.jump_kj_per_mol.count > 0) {
    object["jump_kj_per_mol"] = average_json(averages.jump_kj_per_mol);
  }
  return object;
}

json timing_json(const CodeletTiming& timing) {
  return {{"codelet", timing.codelet},
          {"implementation", timing.implementation},
          {"count", timing.count},
          {"total_seconds", timing.total_seconds},
          {"mean_microseconds", timing.mean_microseconds()}};
}

json versions_json(const RunSummary& summary) {
  json versions = {{"starpmc", summary.starpmc_version},
                   {"starpu", summary.starpu_version},
                   {"hdf5", summary.hdf5_version}};
  if (!summary.qm_engine.empty()) versions[summary.qm_engine] = summary.qm_engine_version;
  return versions;
}

const char* name_of(EquilibrationEnd end) {
  switch (end) {
    case EquilibrationEnd::given:
      return "given";
    case EquilibrationEnd::settled:
      return "settled";
    case EquilibrationEnd::not_settled:
      return "not settled";
  }
  return "";
}

json chain_json(const ChainSummary& chain, double temperature_kelvin) {
  json document{{"steps", chain.steps},
                {"equilibration_steps", chain.equilibration_steps},
                {"equilibration_end", name_of(chain.equilibration_end)},
                {"acceptance", chain.acceptance},
                {"averages", averages_json(chain)},
                {"final_energies", final_energies_json(chain)},
                {"drift", terms_json(chain.drift, chain.reference)},
                {"final_max_translation_angstrom", chain.final_max_translation_angstrom},
                {"final_max_rotation_degrees", chain.final_max_rotation_degrees},
                {"certified_decisions",
                 {{"active", chain.certified.active},
                  {"steps_evaluated_again", chain.certified.steps},
                  {"error_bound_kj_per_mol", chain.certified.bound_kj_per_mol},
                  {"largest_error_in_bounds", chain.certified.largest_error_in_bounds}}},
                {"decisions_sha256", chain.decisions_sha256},
                {"final_coordinates_sha256", chain.final_coordinates_sha256},
                {"qm_restarts", chain.qm_restarts}};
  put(document, "isolated_energy_kj_per_mol", chain.isolated_energy_kj_per_mol);
  put(document, "isolated_dipole_debye", chain.isolated_dipole_debye);
  if (chain.movement) {
    document["movement"] = {{"displacement_angstrom", chain.movement->displacement_angstrom},
                            {"size_of_molecules_angstrom", chain.movement->size_angstrom},
                            {"molecules_never_moved", chain.movement->never_moved}};
  }
  if (chain.qm_interval_steps > 0) document["qm_interval_steps"] = chain.qm_interval_steps;
  document["qm_averages"] = updates_average_json(average_updates(chain, temperature_kelvin));
  document["qm_updates"] = json::array();
  for (const auto& update : chain.qm_updates)
    document["qm_updates"].push_back(to_json_record(update));
  return document;
}

void add_blocks(json& document, const ChainSummary& chain, double temperature_kelvin) {
  if (!chain.blocks.empty()) document["exact"] = blocks_json(chain, temperature_kelvin);
}

json estimate_json(const EnsembleEstimate& estimate) {
  return {{"chains", estimate.chains},
          {"count", estimate.count},
          {"mean", mean_or_null(estimate.mean, estimate.count)},
          {"error", number_or_null(estimate.error)},
          {"error_within_chains", number_or_null(estimate.error_within_chains)},
          {"error_between_chains", number_or_null(estimate.error_between_chains)},
          {"agreement_of_chains", number_or_null(estimate.agreement)},
          {"r_hat", number_or_null(estimate.r_hat)},
          {"long_enough", estimate.long_enough}};
}

const char* name_of(EnergyZero zero) {
  switch (zero) {
    case EnergyZero::no_solute:
      return "molecules apart";
    case EnergyZero::stored_density:
      return "stored density";
    case EnergyZero::isolated_solute:
      return "isolated solute";
    case EnergyZero::qm_program:
      return "QM program";
  }
  return "";
}

/// Averages are of more; this says of which steps of production they had better not be.
json equilibration_json(const RunSummary& summary) {
  json document = {{"mean_without_it", mean_total_energy_equilibrated(summary)},
                   {"chains", json::array()}};
  for (std::size_t i = 0; i < summary.equilibrations.size(); ++i) {
    const Equilibration& found = summary.equilibrations[i];
    document["chains"].push_back(
        {{"steps_of_production", std::llround(equilibrated_after(summary, i))},
         {"late", found.is_late()},
         {"mean_without_it", found.mean_from_there},
         {"effective_samples_without_it", found.effective_samples_from_there},
         {"effective_samples_of_all", found.effective_samples_of_all}});
  }
  return document;
}

json ensemble_json(const RunSummary& summary) {
  json document = estimate_json(summary.total_energy);
  if (summary.until_error_kj_per_mol > 0) {
    document["until_error_kj_per_mol"] = summary.until_error_kj_per_mol;
    document["known_to_within_it"] = summary.energy_known;
  }
  if (!summary.equilibrations.empty()) {
    document["equilibration"] = equilibration_json(summary);
  }
  return document;
}

std::uint64_t longest_equilibration(const RunSummary& summary) {
  std::uint64_t steps = 0;
  for (const ChainSummary& chain : summary.chains) {
    steps = std::max(steps, chain.equilibration_steps);
  }
  return steps;
}

json worker_json(const WorkerTasks& worker, double wall_seconds) {
  const WorkerShares shares = shares_of(worker, wall_seconds);
  return {{"worker", worker.worker},
          {"tasks", worker.tasks},
          {"share_qm", shares.qm},
          {"share_sampling", shares.sampling},
          {"share_idle", shares.idle},
          {"share_waiting_for_data", shares.data},
          {"share_waiting_for_tasks", shares.dependency},
          {"share_nothing_to_do", shares.nothing}};
}

json schedule_json(const Schedule& schedule, double wall_seconds) {
  return {{"makespan_seconds", wall_seconds},
          {"lower_bound_seconds", schedule.bound_seconds()},
          {"area_bound_seconds", schedule.area_bound_seconds},
          {"chain_bound_seconds", schedule.chain_bound_seconds},
          {"bytes_between_memories", schedule.bytes_moved},
          {"copies_between_memories", schedule.moves}};
}

}  // namespace

json average_json(const AverageEstimate& average) {
  return {{"mean", mean_or_null(average.mean, average.count)},
          {"error", average.count > 1 ? number_or_null(average.error) : json()},
          {"statistical_inefficiency", average.statistical_inefficiency},
          {"count", average.count},
          {"effective_samples", average.effective_samples()},
          {"long_enough", average.long_enough}};
}

WorkerShares shares_of(const WorkerTasks& worker, double wall_seconds) {
  const double qm = wall_seconds > 0 ? worker.qm_seconds / wall_seconds : 0;
  const double sampling = wall_seconds > 0 ? worker.sampling_seconds / wall_seconds : 0;
  const double idle = std::max(0.0, 1 - qm - sampling);
  const auto part = [&](double seconds, double most) {
    return wall_seconds > 0 ? std::clamp(seconds / wall_seconds, 0.0, most) : 0;
  };
  const double data = part(worker.waited_for_data_seconds, idle);
  const double nothing = part(worker.without_tasks_seconds, idle - data);
  return {qm, sampling, idle, data, idle - data - nothing, nothing};
}

bool is_exact(const RunSummary& summary) {
  return !summary.chains.empty() && !summary.chains.front().blocks.empty();
}

QmAverages average_updates(const ChainSummary& chain, double temperature_kelvin) {
  if (chain.blocks.empty()) return average_updates(chain.qm_updates, chain.equilibration_steps);
  const BlockAverages averages = average_blocks(chain.blocks, kGasConstant * temperature_kelvin);
  return {
      averages.dipole_debye, averages.dipole_components_debye, averages.polarisation_energy, {}};
}

QmEnsemble average_updates(const RunSummary& summary) {
  std::vector<AverageEstimate> dipoles;
  std::vector<AverageEstimate> polarisations;
  std::vector<AverageEstimate> jumps;
  for (const ChainSummary& chain : summary.chains) {
    const QmAverages averages = average_updates(chain, summary.temperature_kelvin);
    dipoles.push_back(averages.dipole_debye);
    polarisations.push_back(averages.polarisation_energy_kj_per_mol);
    jumps.push_back(averages.jump_kj_per_mol);
  }
  return {ensemble_average(dipoles), ensemble_average(polarisations), ensemble_average(jumps)};
}

StepsOfEnergy steps_of_energy(const ChainSummary& chain, double temperature_kelvin) {
  if (chain.blocks.empty()) return {0, static_cast<double>(chain.steps)};
  const auto end_of = [&](std::size_t block) {
    return static_cast<double>(chain.blocks[block].end.step - chain.blocks.front().end.step);
  };
  const double first = end_of(first_averaged(chain.blocks, kGasConstant * temperature_kelvin) - 1);
  return {first, end_of(chain.blocks.size() - 1) - first};
}

double equilibrated_after(const RunSummary& summary, std::size_t chain) {
  const StepsOfEnergy steps = steps_of_energy(summary.chains[chain], summary.temperature_kelvin);
  return steps.first + summary.equilibrations[chain].share * steps.count;
}

double mean_total_energy_equilibrated(const RunSummary& summary) {
  double steps = 0;
  double sum = 0;
  for (std::size_t i = 0; i < summary.equilibrations.size(); ++i) {
    const Equilibration& found = summary.equilibrations[i];
    const double used =
        (1 - found.share) * steps_of_energy(summary.chains[i], summary.temperature_kelvin).count;
    steps += used;
    sum += used * found.mean_from_there;
  }
  return steps > 0 ? sum / steps : summary.total_energy.mean;
}

EnergyZero energy_zero(const RunSummary& summary) {
  if (summary.qm_engine.empty()) return EnergyZero::no_solute;
  if (summary.qm_engine == "frozen") return EnergyZero::stored_density;
  const bool isolated = std::ranges::all_of(summary.chains, [](const ChainSummary& chain) {
    return chain.isolated_energy_kj_per_mol.has_value();
  });
  return isolated ? EnergyZero::isolated_solute : EnergyZero::qm_program;
}

void to_json(json& document, const RunSummary& summary) {
  document = json{{"title", summary.title},
                  {"units",
                   {{"energy", "kJ/mol"},
                    {"length", "angstrom"},
                    {"charge", "e"},
                    {"dipole", "debye, about the centre of nuclear charge"},
                    {"time", "s"}}},
                  {"warnings", summary.warnings},
                  {"equilibration_steps", longest_equilibration(summary)},
                  {"total_energy", ensemble_json(summary)},
                  {"steps_per_second", summary.steps_per_second},
                  {"wall_seconds", summary.wall_seconds},
                  {"startup_seconds", summary.startup_seconds},
                  {"total_seconds", summary.total_seconds},
                  {"seed", summary.seed},
                  {"temperature_kelvin", summary.temperature_kelvin},
                  {"precision", summary.precision},
                  {"ensemble", is_exact(summary) ? "exact" : "perturbative"},
                  {"qm_engine", summary.qm_engine.empty() ? "none" : summary.qm_engine},
                  {"versions", versions_json(summary)}};
  if (summary.pressure_bar.count > 0) {
    document["pressure_bar"] = estimate_json(summary.pressure_bar);
  }
  const QmEnsemble updates = average_updates(summary);
  if (updates.dipole_debye.count > 0) {
    document["dipole_debye"] = estimate_json(updates.dipole_debye);
  }
  if (updates.polarisation_energy_kj_per_mol.count > 0) {
    document["polarisation_energy_kj_per_mol"] =
        estimate_json(updates.polarisation_energy_kj_per_mol);
  }
  if (updates.jump_kj_per_mol.count > 0) {
    document["jump_kj_per_mol"] = estimate_json(updates.jump_kj_per_mol);
  }
  if (!summary.qm_device.empty()) document["qm_device"] = summary.qm_device;
  document["energy_zero"] = name_of(energy_zero(summary));
  if (summary.chains.size() == 1) {
    document.update(chain_json(summary.chains.front(), summary.temperature_kelvin));
    add_blocks(document, summary.chains.front(), summary.temperature_kelvin);
  } else {
    document["chains"] = json::array();
    for (const auto& chain : summary.chains) {
      document["chains"].push_back(chain_json(chain, summary.temperature_kelvin));
      add_blocks(document["chains"].back(), chain, summary.temperature_kelvin);
    }
  }
  document["codelet_timings"] = json::array();
  for (const auto& timing : summary.codelet_timings)
    document["codelet_timings"].push_back(timing_json(timing));
  document["schedule"] = schedule_json(summary.schedule, summary.wall_seconds);
  document["worker_tasks"] = json::array();
  for (const auto& worker : summary.worker_tasks)
    document["worker_tasks"].push_back(worker_json(worker, summary.wall_seconds));
}

std::string hdf5_library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  const std::lock_guard lock(hdf5::library_mutex());
  if (H5get_libversion(&major, &minor, &release) < 0) return "unknown";
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace starpmc
