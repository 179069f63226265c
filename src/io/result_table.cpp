#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/constants.hpp"
#include "io/progress.hpp"
#include "io/run_summary.hpp"
#include "kernels/base/shown_text.hpp"

namespace starpmc {
namespace {

/// Down to the second one of the error, as a chemist writes a result.
int decimals_for(double error) {
  constexpr int most = 6;
  if (!(error > 0) || !std::isfinite(error)) return 3;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, most);
}

/// @param unit with the space before it
std::string value_text(const AverageEstimate& average, int width, std::string_view unit) {
  if (average.count == 0) return fmt::format("{:>{}}", "no samples", width);
  const int decimals = decimals_for(average.error);
  std::string text = fmt::format("{:>{}.{}f}", average.mean, width, decimals);
  if (average.count == 1) return fmt::format("{}{} (one sample)", text, unit);
  // Of what never changed 0 is no error, or needs none.
  if (average.error == 0) return fmt::format("{}{}", text, unit);
  if (std::isfinite(average.error)) text += fmt::format(" ± {:.{}f}", average.error, decimals);
  return fmt::format("{}{}{}", text, unit, average.long_enough ? "" : " (too short to tell)");
}

AverageEstimate as_one(const EnsembleEstimate& all) {
  AverageEstimate average;
  average.mean = all.mean;
  average.error = all.error;
  average.count = all.count;
  average.long_enough = all.long_enough;
  return average;
}

std::string error_text(double error) {
  if (!std::isfinite(error)) return "unknown";
  return error == 0 ? "0" : fmt::format("{:.{}f}", error, decimals_for(error));
}

std::string agreement_text(const EnsembleEstimate& estimate) {
  if (std::isnan(estimate.agreement)) return "unknown";
  if (estimate.chains_disagree()) {
    return fmt::format(
        "none: chains of one distribution would differ this much in {:.2g} % of runs",
        100 * estimate.agreement);
  }
  return fmt::format("their means differ no more than their errors explain (F test: {:.2g})",
                     estimate.agreement);
}

/// Of several chains.
std::string ensemble_lines(const RunSummary& summary) {
  const EnsembleEstimate& energy = summary.total_energy;
  std::string text = fmt::format("{:<24}{}", "Mean total energy", with_error(energy, "kJ/mol"));
  if (energy.count > 0) {
    text += fmt::format(
        "{}; error within chains {}, between chains {}", is_exact(summary) ? ", at block ends" : "",
        error_text(energy.error_within_chains), error_text(energy.error_between_chains));
  }
  return text +
         fmt::format("\n{:<24}{}, R-hat {}\n", "Agreement of chains", agreement_text(energy),
                     std::isnan(energy.r_hat) ? "unknown" : fmt::format("{:.3f}", energy.r_hat));
}

/// Of which ensemble means over all steps are; empty: of the one that is sampled.
const char* ensemble_of_steps(const RunSummary& summary) {
  return is_exact(summary) ? ", between the sampled and the true ensemble" : "";
}

constexpr const char* kOriginOfDipole = "about the centre of nuclear charge";

std::string qm_lines(const std::vector<QmUpdateRecord>& updates) {
  std::string text;
  if (updates.empty()) return text;
  text += fmt::format(
      "\nQM updates ({}), energies in kJ/mol\n  {:>12} {:>18} {:>10} {:>15} {:>12} {:>10} {:>9}\n",
      updates.size(), "step", "energy", "jump", "sampling error", "electrons", "iterations",
      "time (s)");
  constexpr std::size_t most_lines = 10;
  // Of many updates the last ones tell more: the first still relax.
  const std::size_t first = updates.size() > most_lines ? updates.size() - most_lines : 0;
  if (first > 0) text += fmt::format("  ... {} earlier ones are in summary.json\n", first);
  for (std::size_t i = first; i < updates.size(); ++i) {
    const QmUpdateRecord& update = updates[i];
    const std::string sampling_error =
        update.sampling_error_kj_per_mol ? fmt::format("{:.3f}", *update.sampling_error_kj_per_mol)
                                         : "";
    text += fmt::format("  {:>12} {:>18.3f} {:>10.3f} {:>15} {:>12.6f} {:>10} {:>9.1f}\n",
                        update.step, update.qm_energy_kj_per_mol, update.jump_kj_per_mol,
                        sampling_error, update.electrons_on_grid, update.iterations,
                        update.seconds_embedding + update.seconds_scf + update.seconds_density);
  }
  return text;
}

std::string certified_line(const ChainSummary& chain) {
  const CertifiedDecisions& certified = chain.certified;
  const auto steps = static_cast<double>(chain.steps + chain.equilibration_steps);
  if (!certified.active || steps == 0) return "";
  return fmt::format(
      "{:<24}{:.3f} % of the steps evaluated again; largest error there {:.2g} of the bound, "
      "{:.1e} "
      "kJ/mol\n",
      "Certified decisions", 100 * static_cast<double>(certified.steps) / steps,
      certified.largest_error_in_bounds, certified.bound_kj_per_mol);
}

const char* equilibration_end(EquilibrationEnd end) {
  switch (end) {
    case EquilibrationEnd::given:
      return "";
    case EquilibrationEnd::settled:
      return ": found, energies and step sizes had settled";
    case EquilibrationEnd::not_settled:
      return ", in which the energies did not settle";
  }
  return "";
}

/// What a jump is to be compared with.
std::string thermal_energy(const RunSummary& summary) {
  return fmt::format(" (kT is {:.2f})", kGasConstant * summary.temperature_kelvin);
}

std::string zero_line(const RunSummary& summary) {
  switch (energy_zero(summary)) {
    case EnergyZero::no_solute:
      return "";
    case EnergyZero::stored_density:
      return fmt::format("{:<24}the stored density's own energy, which is not known\n", "Zero");
    case EnergyZero::isolated_solute:
      return fmt::format("{:<24}the isolated solute, {:.3f} kJ/mol\n", "Zero",
                         *summary.chains.front().isolated_energy_kj_per_mol);
    case EnergyZero::qm_program:
      return fmt::format(
          "{:<24}that of the QM program, which gives no energy of the isolated solute\n", "Zero");
  }
  return "";
}

/// What the mean total energy would be without the relaxation that it is of.
std::string equilibration_line(const RunSummary& summary) {
  if (summary.equilibrations.empty()) return "";
  double steps = 0;
  double first = 0;  // of the averages
  bool relaxed = false;
  for (std::size_t i = 0; i < summary.equilibrations.size(); ++i) {
    steps = std::max(steps, equilibrated_after(summary, i));
    first = std::max(first, steps_of_energy(summary.chains[i], summary.temperature_kelvin).first);
    relaxed |= summary.equilibrations[i].share > 0;
  }
  if (steps == 0) return fmt::format("{:<24}before production\n", "Equilibrated");
  std::string text = fmt::format("{:<24}{:.0f} steps into production", "Equilibrated", steps);
  if (!relaxed) return text + ", where averages at block ends begin\n";
  const auto late = std::ranges::count_if(summary.equilibrations, &Equilibration::is_late);
  text += is_exact(summary) ? fmt::format("; averages at block ends begin after {:.0f}", first)
                            : "; averages are of all of it";
  return text + fmt::format(", the mean total energy from there is {:.4f}{}\n",
                            mean_total_energy_equilibrated(summary),
                            late == 0 ? "" : "; late: more steps of equilibration are needed");
}

/// In debye, as `layout` says; empty where it is not known.
std::string isolated_dipole(const RunSummary& summary, fmt::format_string<double> layout) {
  const auto& dipole = summary.chains.front().isolated_dipole_debye;
  if (!dipole) return {};
  return fmt::format(layout, std::hypot((*dipole)[0], (*dipole)[1], (*dipole)[2]));
}

/// In the exact ensemble of the ends of its blocks.
AverageEstimate total_of(const ChainSummary& chain, double kt) {
  return chain.blocks.empty() ? chain.averages.total : energies_of(chain.blocks, kt).estimate();
}

std::string updates_of(const ChainSummary& chain) {
  if (chain.blocks.empty()) return std::to_string(chain.qm_updates.size());
  const BlockAverages averages = average_blocks(chain.blocks, 1);
  return fmt::format("{} of {}", averages.accepted, averages.blocks);
}

/// Of one chain, or of all as one.
template <class Part>
std::string mean_with_error(const RunSummary& summary, const Part& part) {
  if (summary.chains.size() == 1) return with_error(part(summary.chains.front().averages));
  std::vector<AverageEstimate> parts;
  for (const ChainSummary& chain : summary.chains) parts.push_back(part(chain.averages));
  return with_error(as_one(ensemble_average(parts)));
}

std::string energy_lines(const RunSummary& summary) {
  std::string text;
  const auto add = [&](std::string_view name, const auto& part) {
    text += fmt::format("  {:<22}{}\n", name, mean_with_error(summary, part));
  };
  const bool reference = summary.chains.front().reference;
  for (std::size_t i = 0; i < EnergyTerms::count(reference); ++i) {
    // The field of a fixed reference is that of density and nuclei in one: the sum below.
    if (reference && (i == TERM_QMMM_NUCLEI || i == TERM_QMMM_GRID)) continue;
    add(EnergyTerms::titles[i], [i](const EnergyAverages& averages) { return averages.terms[i]; });
  }
  const EnergyZero zero = energy_zero(summary);
  if (zero != EnergyZero::no_solute)
    add("QM-MM Coulomb, both", std::mem_fn(&EnergyAverages::qmmm_coulomb));
  if (zero == EnergyZero::isolated_solute || zero == EnergyZero::qm_program) {
    if (reference) {  // a constant
      text += fmt::format("  {:<22}{:>14.3f}\n", "solute's own",
                          summary.chains.front().averages.solute.mean);
    } else {
      add("solute's own", std::mem_fn(&EnergyAverages::solute));
    }
  }
  if (const double constant = summary.chains.front().dispersion_correction_kj_per_mol;
      constant != 0) {
    text += fmt::format("  {:<22}{:>14.3f}\n", "dispersion correction", constant);
  }
  add("total", std::mem_fn(&EnergyAverages::total));
  return text;
}

/// Of the exact ensemble's tests in all chains.
std::string all_block_lines(const RunSummary& summary) {
  std::vector<AverageEstimate> differences;
  double squares = 0;
  std::uint64_t accepted = 0;
  std::uint64_t blocks = 0;
  for (const ChainSummary& chain : summary.chains) {
    if (chain.blocks.empty()) continue;
    const BlockAverages averages = average_blocks(chain.blocks, 1);
    differences.push_back(averages.difference);
    squares += std::pow(averages.width_kj_per_mol, 2) * static_cast<double>(averages.blocks);
    accepted += averages.accepted;
    blocks += averages.blocks;
  }
  if (blocks < 2) return "";
  return fmt::format(
      "{:<24}{:.1f} % of {}; true less sampled energy {:.3f} kJ/mol, standard deviation {:.3f}\n",
      "Blocks accepted", 100 * static_cast<double>(accepted) / static_cast<double>(blocks), blocks,
      ensemble_average(differences).mean, std::sqrt(squares / static_cast<double>(blocks)));
}

std::string chain_lines(const RunSummary& summary) {
  std::string text =
      fmt::format("\nChains ({})\n  {:>5} {:>13} {:>12} {:>12} {:>24} {:>10}\n",
                  summary.chains.size(), "chain", "equilibration", "steps", "acceptance",
                  "total energy (kJ/mol)", is_exact(summary) ? "accepted blocks" : "QM updates");
  for (std::size_t i = 0; i < summary.chains.size(); ++i) {
    const ChainSummary& chain = summary.chains[i];
    text += fmt::format("  {:>5} {:>13} {:>12} {:>10.1f} % {:>24} {:>10}\n", i,
                        chain.equilibration_steps, chain.steps, 100 * chain.acceptance,
                        with_error(total_of(chain, kGasConstant * summary.temperature_kelvin)),
                        updates_of(chain));
  }
  text += "\n" + ensemble_lines(summary) + equilibration_line(summary);
  text += zero_line(summary);
  text += all_block_lines(summary);
  const QmEnsemble updates = average_updates(summary);
  if (updates.dipole_debye.count > 0) {
    text +=
        fmt::format("{:<24}{}, {}{}\n", "Mean dipole", with_error(updates.dipole_debye, "debye"),
                    kOriginOfDipole, isolated_dipole(summary, "; {:.3f} of the isolated solute"));
  }
  const EnsembleEstimate& polarisation = updates.polarisation_energy_kj_per_mol;
  if (polarisation.count > 0) {
    text += fmt::format("{:<24}{}\n", "Polarisation energy", with_error(polarisation, "kJ/mol"));
  }
  const EnsembleEstimate& jump = updates.jump_kj_per_mol;
  if (jump.count > 0) {
    text += fmt::format("{:<24}{}{}\n", "Mean jump", with_error(jump, "kJ/mol"),
                        thermal_energy(summary));
  }
  const EnsembleEstimate& pressure = summary.pressure_bar;
  if (pressure.count > 0) {
    text += fmt::format("{:<24}{}\n", "Mean pressure", with_error(pressure, "bar"));
  }
  text += fmt::format("\nMean energy over all steps{} (kJ/mol)\n", ensemble_of_steps(summary)) +
          energy_lines(summary);
  return text;
}

std::string update_average_lines(const RunSummary& summary) {
  const ChainSummary& chain = summary.chains.front();
  const QmAverages averages = average_updates(chain, summary.temperature_kelvin);
  std::string text;
  const auto add = [&](const char* name, const AverageEstimate& average) {
    if (average.count > 0) text += fmt::format("  {:<22}{}\n", name, with_error(average));
  };
  add("dipole, debye", averages.dipole_debye);
  const bool dipole = !text.empty();
  if (dipole) text += isolated_dipole(summary, "  of the isolated solute{:>14.3f}\n");
  add("polarisation energy", averages.polarisation_energy_kj_per_mol);
  add("jump", averages.jump_kj_per_mol);
  if (text.empty()) return text;
  return fmt::format("\nMean over the {}, energies in kJ/mol{}{}{}\n",
                     is_exact(summary) ? "ends of blocks" : "QM updates", thermal_energy(summary),
                     dipole ? ", dipole " : "", dipole ? kOriginOfDipole : "") +
         text;
}

std::string single_chain_lines(const RunSummary& summary) {
  const ChainSummary& chain = summary.chains.front();
  std::string text;
  if (is_exact(summary)) {
    text = fmt::format("\n{:<24}{}, at block ends\n\nMean energy over all steps{} (kJ/mol)\n",
                       "Mean total energy", with_error(summary.total_energy, "kJ/mol"),
                       ensemble_of_steps(summary));
  } else {
    text = "\nMean energy (kJ/mol)\n";
  }
  text += energy_lines(summary);
  text += zero_line(summary);
  text += update_average_lines(summary);
  if (chain.averages.pressure_bar.count > 0) {
    text +=
        fmt::format("\n{:<24}{} bar\n", "Mean pressure", with_error(chain.averages.pressure_bar));
  }
  text += qm_lines(chain.qm_updates);
  text += block_lines(chain, summary.temperature_kelvin);
  text += fmt::format("\n{:<24}{} ({} of equilibration before{})\n", "Steps", chain.steps,
                      chain.equilibration_steps, equilibration_end(chain.equilibration_end));
  text += equilibration_line(summary);
  text += fmt::format("{:<24}{:.1f} %, moves up to {:.3f} A and {:.1f} degrees\n", "Acceptance",
                      100 * chain.acceptance, chain.final_max_translation_angstrom,
                      chain.final_max_rotation_degrees);
  text += fmt::format("{:<24}{:.1e} kJ/mol (accumulated - recomputed energy)\n", "Drift",
                      chain.drift.total());
  text += certified_line(chain);
  return text;
}

std::string format_seconds(double time_s) { return fmt::format("{:.3g} s", time_s); }

/// No longer than its column.
std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 30;
  return name.size() <= kMost ? name : name.substr(0, kMost - 3) + "...";
}

std::string worker_lines(const RunSummary& summary) {
  std::string text =
      fmt::format("\n{:<32} {:>8} {:>10} {:>26}\n{:<32} {:>8} {:>10} {:>8} {:>8} {:>8}\n", "", "",
                  "", "idle, waiting for", "Workers", "QM", "sampling", "data", "tasks", "work");
  for (const WorkerTasks& worker : summary.worker_tasks) {
    const WorkerShares shares = shares_of(worker, summary.wall_seconds);
    text += fmt::format("  {:<30} {:>6.1f} % {:>8.1f} % {:>6.1f} % {:>6.1f} % {:>6.1f} %\n",
                        shortened(worker.worker), 100 * shares.qm, 100 * shares.sampling,
                        100 * shares.data, 100 * shares.dependency, 100 * shares.nothing);
  }
  return text;
}

/// How the run's time compares with the least that the models say it could have taken. What cannot
/// be is not said: models that have seen few tasks of a size overestimate them.
std::string schedule_line(const RunSummary& summary) {
  const Schedule& schedule = summary.schedule;
  if (schedule.bound_seconds() <= 0 || schedule.bound_seconds() > summary.wall_seconds) return "";
  constexpr double kMegabyte = 1e6;
  return fmt::format(
      "{:<24}{:.0f} % of the fastest possible by the performance models ({} of {}); {:.4g} MB "
      "moved between memories\n",
      "Schedule", 100 * schedule.bound_seconds() / summary.wall_seconds,
      format_seconds(schedule.bound_seconds()), format_seconds(summary.wall_seconds),
      static_cast<double>(schedule.bytes_moved) / kMegabyte);
}

}  // namespace

std::string with_error(const AverageEstimate& average) {
  constexpr int width = 14;
  return value_text(average, width, "");
}

std::string with_error(const EnsembleEstimate& estimate, std::string_view unit) {
  return value_text(as_one(estimate), 0, fmt::format(" {}", unit));
}

std::string result_table(const RunSummary& summary) {
  std::string text = fmt::format("\n{}\n", summary.title.empty() ? "Result" : summary.title);
  if (summary.chains.size() == 1) {
    text += single_chain_lines(summary);
  } else {
    text += chain_lines(summary) + worker_lines(summary) + "\n";
  }
  text += fmt::format("{:<24}{:.0f} steps/s, {} in all, {:.1f} s of it start-up\n", "Speed",
                      summary.steps_per_second, format_duration(summary.total_seconds),
                      summary.startup_seconds);
  text += schedule_line(summary);
  text += fmt::format("{:<24}{}\n", "Results in", shown_text(summary.output_folder.string()));
  return text;
}

}  // namespace starpmc
