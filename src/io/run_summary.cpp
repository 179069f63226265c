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
  return object;
}

json qm_update_json(const QmUpdateRecord& update) {
  return {{"step", update.step},
          {"qm_energy_kj_per_mol", update.qm_energy_kj_per_mol},
          {"electrons_on_grid", update.electrons_on_grid},
          {"dropped_charge", update.dropped_charge},
          {"grid_points", update.grid_points},
          {"jump_kj_per_mol", update.jump_kj_per_mol},
          {"iterations", update.iterations},
          {"seconds_embedding", update.seconds_embedding},
          {"seconds_scf", update.seconds_scf},
          {"seconds_density", update.seconds_density}};
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

std::string certified_line(const RunSummary& summary) {
  const CertifiedDecisions& certified = summary.certified;
  const auto steps = static_cast<double>(summary.steps + summary.equilibration_steps);
  if (!certified.active || steps == 0) return "";
  return fmt::format(
      "{:<24}{:.3f} % of the steps evaluated again; largest error there {:.2g} of the bound, "
      "{:.1e} "
      "kJ/mol\n",
      "Certified decisions", 100 * static_cast<double>(certified.steps) / steps,
      certified.largest_error_in_bounds, certified.bound_kj_per_mol);
}

}  // namespace

void to_json(json& document, const RunSummary& summary) {
  document = json{
      {"title", summary.title},
      {"units", {{"energy", "kJ/mol"}, {"length", "angstrom"}, {"charge", "e"}, {"time", "s"}}},
      {"steps", summary.steps},
      {"equilibration_steps", summary.equilibration_steps},
      {"acceptance", summary.acceptance},
      {"averages", averages_json(summary.averages)},
      {"final_energies", terms_json(summary.final_energies)},
      {"drift", terms_json(summary.drift)},
      {"final_max_translation_angstrom", summary.final_max_translation_angstrom},
      {"final_max_rotation_degrees", summary.final_max_rotation_degrees},
      {"steps_per_second", summary.steps_per_second},
      {"wall_seconds", summary.wall_seconds},
      {"certified_decisions",
       {{"active", summary.certified.active},
        {"steps_evaluated_again", summary.certified.steps},
        {"error_bound_kj_per_mol", summary.certified.bound_kj_per_mol},
        {"largest_error_in_bounds", summary.certified.largest_error_in_bounds}}},
      {"seed", summary.seed},
      {"precision", summary.precision},
      {"decisions_sha256", summary.decisions_sha256},
      {"final_coordinates_sha256", summary.final_coordinates_sha256},
      {"qm_engine", summary.qm_engine.empty() ? "none" : summary.qm_engine},
      {"versions", versions_json(summary)}};
  document["qm_updates"] = json::array();
  for (const auto& update : summary.qm_updates)
    document["qm_updates"].push_back(qm_update_json(update));
  document["codelet_timings"] = json::array();
  for (const auto& timing : summary.codelet_timings)
    document["codelet_timings"].push_back(timing_json(timing));
  document["worker_tasks"] = json::array();
  for (const auto& worker : summary.worker_tasks)
    document["worker_tasks"].push_back({{"worker", worker.worker}, {"tasks", worker.tasks}});
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
  constexpr std::array<std::string_view, EnergyTerms::names.size()> meanings = {
      "MM-MM Coulomb", "MM-MM van der Waals", "QM-MM van der Waals", "QM-MM nuclei",
      "QM-MM electrons"};
  std::string text = fmt::format("\n{}\n\nMean energy (kJ/mol)\n",
                                 summary.title.empty() ? "Result" : summary.title);
  for (std::size_t i = 0; i < meanings.size(); ++i)
    text += fmt::format("  {:<22}{}\n", meanings[i], with_error(summary.averages.terms[i]));
  text += fmt::format("  {:<22}{}\n", "total", with_error(summary.averages.total));
  text += qm_lines(summary.qm_updates);
  text += fmt::format("\n{:<24}{} ({} of equilibration before)\n", "Steps", summary.steps,
                      summary.equilibration_steps);
  text += fmt::format("{:<24}{:.1f} %, moves up to {:.3f} A and {:.1f} degrees\n", "Acceptance",
                      100 * summary.acceptance, summary.final_max_translation_angstrom,
                      summary.final_max_rotation_degrees);
  text += fmt::format("{:<24}{:.1e} kJ/mol (accumulated - recomputed energy)\n", "Drift",
                      summary.drift.total());
  text += certified_line(summary);
  text += fmt::format("{:<24}{:.0f} steps/s, {} in all\n", "Speed", summary.steps_per_second,
                      format_duration(summary.wall_seconds));
  text += fmt::format("{:<24}{}\n", "Results in", summary.output_folder.string());
  return text;
}

}  // namespace starpmc
