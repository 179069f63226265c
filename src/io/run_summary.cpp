#include "io/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "io/hdf5_handle.hpp"
#include "io/progress.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

json average_json(const AverageEstimate& average) {
  return {{"mean", average.mean},
          {"error", average.error},
          {"statistical_inefficiency", average.statistical_inefficiency},
          {"count", average.count},
          {"block_length", average.block_length},
          {"plateau_reached", average.plateau_reached}};
}

json terms_json(const EnergyTerms& terms) {
  json object;
  const auto values = terms.values();
  for (std::size_t i = 0; i < values.size(); ++i)
    object[std::string(EnergyTerms::names[i])] = values[i];
  object["total"] = terms.total();
  return object;
}

json averages_json(const EnergyAverages& averages) {
  json object;
  for (std::size_t i = 0; i < averages.terms.size(); ++i)
    object[std::string(EnergyTerms::names[i])] = average_json(averages.terms[i]);
  object["total"] = average_json(averages.total);
  if (averages.pressure_bar.count > 0) {
    object["pressure_bar"] = average_json(averages.pressure_bar);
  }
  return object;
}

}  // namespace

json to_json_record(const QmUpdateRecord& update) {
  json record{{"step", update.step},
              {"qm_energy_kj_per_mol", update.qm_energy_kj_per_mol},
              {"electrons_on_grid", update.electrons_on_grid},
              {"dropped_charge", update.dropped_charge},
              {"grid_points", update.grid_points},
              {"jump_kj_per_mol", update.jump_kj_per_mol},
              {"iterations", update.iterations},
              {"seconds_embedding", update.seconds_embedding},
              {"seconds_scf", update.seconds_scf},
              {"seconds_density", update.seconds_density}};
  if (update.dipole_debye) record["dipole_debye"] = *update.dipole_debye;
  return record;
}

QmUpdateRecord qm_update_from(const json& record) {
  QmUpdateRecord update;
  update.step = record.at("step");
  update.qm_energy_kj_per_mol = record.at("qm_energy_kj_per_mol");
  update.electrons_on_grid = record.at("electrons_on_grid");
  update.dropped_charge = record.at("dropped_charge");
  update.grid_points = record.at("grid_points");
  update.jump_kj_per_mol = record.at("jump_kj_per_mol");
  // Checkpoints of earlier versions have none.
  if (record.contains("dipole_debye")) {
    update.dipole_debye = record.at("dipole_debye").get<std::array<double, 3>>();
  }
  update.iterations = record.at("iterations");
  update.seconds_embedding = record.at("seconds_embedding");
  update.seconds_scf = record.at("seconds_scf");
  update.seconds_density = record.at("seconds_density");
  return update;
}

namespace {

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

/// Digits down to the second one of the error, as a chemist writes a result.
std::string with_error(const AverageEstimate& average) {
  const bool has_error = average.error > 0 && std::isfinite(average.error);
  constexpr int most_decimals = 6;
  const int decimals = has_error
                           ? std::clamp(1 - static_cast<int>(std::floor(std::log10(average.error))),
                                        0, most_decimals)
                           : 3;
  const std::string mean = fmt::format("{:.{}f}", average.mean, decimals);
  if (average.count < 2) return fmt::format("{:>14}", mean);
  return fmt::format("{:>14} ± {:.{}f}{}", mean, average.error, decimals,
                     average.plateau_reached ? "" : " (at least; too short to tell)");
}

std::string qm_lines(const std::vector<QmUpdateRecord>& updates) {
  std::string text;
  if (updates.empty()) return text;
  text += fmt::format("\nQM updates ({})\n  {:>12} {:>20} {:>14} {:>12} {:>10} {:>9}\n",
                      updates.size(), "step", "energy (kJ/mol)", "jump (kJ/mol)", "electrons",
                      "iterations", "time (s)");
  constexpr std::size_t most_lines = 10;
  // Of many updates the last ones tell more: the first still relax.
  const std::size_t first = updates.size() > most_lines ? updates.size() - most_lines : 0;
  if (first > 0) text += fmt::format("  ... {} earlier ones are in summary.json\n", first);
  for (std::size_t i = first; i < updates.size(); ++i) {
    const QmUpdateRecord& update = updates[i];
    text += fmt::format("  {:>12} {:>20.3f} {:>14.3f} {:>12.6f} {:>10} {:>9.1f}\n", update.step,
                        update.qm_energy_kj_per_mol, update.jump_kj_per_mol,
                        update.electrons_on_grid, update.iterations,
                        update.seconds_embedding + update.seconds_scf + update.seconds_density);
  }
  return text;
}

std::string certified_line(const ChainSummary& chain, std::uint64_t equilibration_steps) {
  const CertifiedDecisions& certified = chain.certified;
  const auto steps = static_cast<double>(chain.steps + equilibration_steps);
  if (!certified.active || steps == 0) return "";
  return fmt::format(
      "{:<24}{:.3f} % of the steps evaluated again; largest error there {:.2g} of the bound, "
      "{:.1e} "
      "kJ/mol\n",
      "Certified decisions", 100 * static_cast<double>(certified.steps) / steps,
      certified.largest_error_in_bounds, certified.bound_kj_per_mol);
}

json chain_json(const ChainSummary& chain) {
  json document{{"steps", chain.steps},
                {"acceptance", chain.acceptance},
                {"averages", averages_json(chain.averages)},
                {"final_energies", terms_json(chain.final_energies)},
                {"drift", terms_json(chain.drift)},
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
  document["qm_updates"] = json::array();
  for (const auto& update : chain.qm_updates)
    document["qm_updates"].push_back(to_json_record(update));
  return document;
}

/// JSON has no "not a number".
json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json estimate_json(const EnsembleEstimate& estimate) {
  return {{"chains", estimate.chains},
          {"count", estimate.count},
          {"mean", estimate.mean},
          {"error", number_or_null(estimate.error)},
          {"error_from_blocks", number_or_null(estimate.error_from_blocks)},
          {"error_between_chains", number_or_null(estimate.error_between_chains)},
          {"r_hat", number_or_null(estimate.r_hat)},
          {"plateaus_reached", estimate.plateaus_reached}};
}

json ensemble_json(const RunSummary& summary) {
  json document = estimate_json(summary.total_energy);
  if (summary.until_error_kj_per_mol > 0) {
    document["until_error_kj_per_mol"] = summary.until_error_kj_per_mol;
    document["known_to_within_it"] = summary.energy_known;
  }
  return document;
}

/// Shares of the run's wall time.
json worker_json(const WorkerTasks& worker, double wall_seconds) {
  const double qm = wall_seconds > 0 ? worker.qm_seconds / wall_seconds : 0;
  const double sampling = wall_seconds > 0 ? worker.sampling_seconds / wall_seconds : 0;
  return {{"worker", worker.worker},
          {"tasks", worker.tasks},
          {"share_qm", qm},
          {"share_sampling", sampling},
          {"share_idle", std::max(0.0, 1 - qm - sampling)}};
}

std::string chain_lines(const RunSummary& summary) {
  std::string text =
      fmt::format("\nChains ({})\n  {:>5} {:>12} {:>12} {:>24} {:>10}\n", summary.chains.size(),
                  "chain", "steps", "acceptance", "total energy (kJ/mol)", "QM updates");
  for (std::size_t i = 0; i < summary.chains.size(); ++i) {
    const ChainSummary& chain = summary.chains[i];
    text += fmt::format("  {:>5} {:>12} {:>10.1f} % {:>24} {:>10}\n", i, chain.steps,
                        100 * chain.acceptance, with_error(chain.averages.total),
                        chain.qm_updates.size());
  }
  const EnsembleEstimate& energy = summary.total_energy;
  text += fmt::format(
      "\n{:<24}{:.4f} kJ/mol; error {:.2g} (from blocks {:.2g}, between chains {:.2g}), R-hat "
      "{:.3f}\n",
      "Mean total energy", energy.mean, energy.error, energy.error_from_blocks,
      energy.error_between_chains, energy.r_hat);
  const EnsembleEstimate& pressure = summary.pressure_bar;
  if (pressure.count > 0) {
    text += fmt::format("{:<24}{:.1f} bar; error {:.2g}\n", "Mean pressure", pressure.mean,
                        pressure.error);
  }
  return text;
}

std::string single_chain_lines(const ChainSummary& chain, std::uint64_t equilibration_steps) {
  constexpr std::array<std::string_view, EnergyTerms::names.size()> meanings = {
      "MM-MM Coulomb", "MM-MM van der Waals", "QM-MM van der Waals", "QM-MM nuclei",
      "QM-MM electrons"};
  std::string text = "\nMean energy (kJ/mol)\n";
  for (std::size_t i = 0; i < meanings.size(); ++i)
    text += fmt::format("  {:<22}{}\n", meanings[i], with_error(chain.averages.terms[i]));
  text += fmt::format("  {:<22}{}\n", "total", with_error(chain.averages.total));
  if (chain.averages.pressure_bar.count > 0) {
    text +=
        fmt::format("\n{:<24}{} bar\n", "Mean pressure", with_error(chain.averages.pressure_bar));
  }
  text += qm_lines(chain.qm_updates);
  text += fmt::format("\n{:<24}{} ({} of equilibration before)\n", "Steps", chain.steps,
                      equilibration_steps);
  text += fmt::format("{:<24}{:.1f} %, moves up to {:.3f} A and {:.1f} degrees\n", "Acceptance",
                      100 * chain.acceptance, chain.final_max_translation_angstrom,
                      chain.final_max_rotation_degrees);
  text += fmt::format("{:<24}{:.1e} kJ/mol (accumulated - recomputed energy)\n", "Drift",
                      chain.drift.total());
  text += certified_line(chain, equilibration_steps);
  return text;
}

std::string worker_lines(const RunSummary& summary) {
  std::string text =
      fmt::format("\n{:<44} {:>8} {:>10} {:>8}\n", "Workers", "QM", "sampling", "idle");
  for (const WorkerTasks& worker : summary.worker_tasks) {
    const json shares = worker_json(worker, summary.wall_seconds);
    const auto percent = [&](const char* key) { return 100 * shares.at(key).get<double>(); };
    text += fmt::format("  {:<42} {:>6.1f} % {:>8.1f} % {:>6.1f} %\n", worker.worker,
                        percent("share_qm"), percent("share_sampling"), percent("share_idle"));
  }
  return text;
}

}  // namespace

void to_json(json& document, const RunSummary& summary) {
  document = json{
      {"title", summary.title},
      {"units", {{"energy", "kJ/mol"}, {"length", "angstrom"}, {"charge", "e"}, {"time", "s"}}},
      {"equilibration_steps", summary.equilibration_steps},
      {"total_energy", ensemble_json(summary)},
      {"steps_per_second", summary.steps_per_second},
      {"wall_seconds", summary.wall_seconds},
      {"seed", summary.seed},
      {"precision", summary.precision},
      {"qm_engine", summary.qm_engine.empty() ? "none" : summary.qm_engine},
      {"versions", versions_json(summary)}};
  if (summary.pressure_bar.count > 0) {
    document["pressure_bar"] = estimate_json(summary.pressure_bar);
  }
  if (summary.chains.size() == 1) {
    document.update(chain_json(summary.chains.front()));
  } else {
    document["chains"] = json::array();
    for (const auto& chain : summary.chains) document["chains"].push_back(chain_json(chain));
  }
  document["codelet_timings"] = json::array();
  for (const auto& timing : summary.codelet_timings)
    document["codelet_timings"].push_back(timing_json(timing));
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

std::string result_table(const RunSummary& summary) {
  std::string text = fmt::format("\n{}\n", summary.title.empty() ? "Result" : summary.title);
  if (summary.chains.size() == 1) {
    text += single_chain_lines(summary.chains.front(), summary.equilibration_steps);
  } else {
    text += chain_lines(summary) + worker_lines(summary) + "\n";
  }
  text += fmt::format("{:<24}{:.0f} steps/s, {} in all\n", "Speed", summary.steps_per_second,
                      format_duration(summary.wall_seconds));
  text += fmt::format("{:<24}{}\n", "Results in", summary.output_folder.string());
  return text;
}

}  // namespace starpmc
