// What is said of a chain's blocks at the end of a run in the exact ensemble.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/constants.hpp"
#include "io/json_fields.hpp"
#include "io/run_summary.hpp"
#include "io/table_error_fields.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

json terms_json(const std::array<AverageEstimate, EnergyTerms::names.size()>& terms) {
  json object;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    object[std::string(EnergyTerms::names[i])] = average_json(terms[i]);
  }
  return object;
}

double acceptance(const BlockAverages& averages) {
  return averages.blocks == 0
             ? 0
             : static_cast<double>(averages.accepted) / static_cast<double>(averages.blocks);
}

double scf_seconds(const ChainSummary& chain) {
  double seconds = 0;
  for (const QmBlock& block : chain.blocks) seconds += block.end.seconds;
  return seconds / static_cast<double>(chain.blocks.size());
}

/// What is left out beside the error, where that may be more.
std::string first_order_mark(double width, double kt) {
  if (width <= kWidthOfFirstOrder * kt) return "";
  return fmt::format(" only: the standard deviation above is {:.2f} kT", width / kt);
}

json block_json(const QmBlock& block) {
  return {{"step", block.end.step},
          {"true_energy_kj_per_mol", block.end.true_energy_kj_per_mol()},
          {"sampled_energy_kj_per_mol", block.end.sampled_energy_kj_per_mol},
          {"difference_kj_per_mol", block.end.difference_kj_per_mol},
          {"dipole_debye", block.end.dipole_debye},
          {"probability", block.probability},
          {"accepted", block.accepted}};
}

json table_error_json(const TableError& error) {
  json document;
  table_error_fields(error, PutFields{document});
  return document;
}

}  // namespace

json blocks_json(const ChainSummary& chain, double temperature_kelvin) {
  const BlockAverages averages = average_blocks(chain.blocks, kGasConstant * temperature_kelvin);
  json ends = terms_json(averages.terms);
  ends["total"] = average_json(averages.energy);
  json steps = terms_json(averages.terms_of_steps);
  steps["total"] = average_json(averages.energy_of_steps);
  json blocks = json::array();
  for (const QmBlock& block : chain.blocks) blocks.push_back(block_json(block));
  return {{"blocks", averages.blocks},
          {"accepted_blocks", averages.accepted},
          {"block_acceptance", acceptance(averages)},
          {"block_steps", chain.qm_interval_steps},
          {"response_components", chain.response_components},
          {"table_error", table_error_json(chain.table_error)},
          {"response_table_error", table_error_json(chain.response_error)},
          {"difference_kj_per_mol", average_json(averages.difference)},
          {"difference_width_kj_per_mol", averages.width_kj_per_mol},
          {"effective_samples", averages.energy.effective_samples()},
          {"averages_at_block_ends", ends},
          {"averages_of_steps_corrected", steps},
          {"scf_seconds", scf_seconds(chain)},
          {"tests", blocks}};
}

std::string block_lines(const ChainSummary& chain, double temperature_kelvin) {
  if (chain.blocks.empty()) return "";
  const double kt = kGasConstant * temperature_kelvin;
  const BlockAverages averages = average_blocks(chain.blocks, kt);
  std::string text = fmt::format(
      "\nExact ensemble: {} blocks of {} steps, each with an SCF ({:.2f} s) and a test\n"
      "  {:<22}{:>14.1f} %\n",
      averages.blocks, chain.qm_interval_steps, scf_seconds(chain), "blocks accepted",
      100 * acceptance(averages));
  if (chain.table_error.moves > 0) {
    text += fmt::format("  {:<22}{:>14.4f} kJ/mol in the energy of a step (rms; at most {:.3f})\n",
                        "interpolation's error", chain.table_error.rms_kj_per_mol,
                        chain.table_error.largest_kj_per_mol);
  }
  if (chain.response_error.moves > 0) {
    text +=
        fmt::format("  {:<22}{:>14.4f} kJ/mol in the polarisation (rms; at most {:.3f})\n", "",
                    chain.response_error.rms_kj_per_mol, chain.response_error.largest_kj_per_mol);
  }
  if (averages.blocks < 2) return text;
  text += fmt::format("  {:<22}{:>14.3f} kJ/mol, standard deviation {:.3f}\n", "true less sampled",
                      averages.difference.mean, averages.width_kj_per_mol);
  text += fmt::format("  {:<22}{:>14.0f} independent of each other\n", "samples of energy",
                      averages.energy.effective_samples());
  text += fmt::format("  {:<22}{} at block ends\n", "total energy", with_error(averages.energy));
  text += fmt::format("  {:<22}{} from all steps, corrected to first order{}\n", "",
                      with_error(averages.energy_of_steps),
                      first_order_mark(averages.width_kj_per_mol, kt));
  return text;
}

}  // namespace starpmc
