#include "io/chain_summary_state.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/energy_terms_json.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

json average_state(const AverageEstimate& average) {
  return {average.mean,           average.error,
          average.standard_error, average.statistical_inefficiency,
          average.count,          average.degrees_of_freedom,
          average.long_enough};
}

AverageEstimate average_from(const json& state) {
  return {state.at(0), state.at(1), state.at(2), state.at(3),
          state.at(4), state.at(5), state.at(6)};
}

}  // namespace

json chain_summary_state(const ChainSummary& chain) {
  json state{{"steps", chain.steps},
             {"equilibration_steps", chain.equilibration_steps},
             {"equilibration_end", static_cast<int>(chain.equilibration_end)},
             {"acceptance", chain.acceptance},
             {"reference", chain.reference},
             {"qmmm_coulomb", average_state(chain.averages.qmmm_coulomb)},
             {"solute", average_state(chain.averages.solute)},
             {"total", average_state(chain.averages.total)},
             {"pressure", average_state(chain.averages.pressure_bar)},
             {"final_energies", energy_terms_state(chain.final_energies)},
             {"final_solute_energy", chain.final_solute_energy_kj_per_mol},
             {"dispersion_correction", chain.dispersion_correction_kj_per_mol},
             {"drift", energy_terms_state(chain.drift)},
             {"max_translation", chain.final_max_translation_angstrom},
             {"max_rotation", chain.final_max_rotation_degrees},
             {"qm_interval", chain.qm_interval_steps},
             {"qm_restarts", chain.qm_restarts},
             {"certified", chain.certified.active},
             {"certified_bound", chain.certified.bound_kj_per_mol},
             {"certified_steps", chain.certified.steps},
             {"certified_largest_error", chain.certified.largest_error_in_bounds},
             {"decisions_sha256", chain.decisions_sha256},
             {"final_coordinates_sha256", chain.final_coordinates_sha256}};
  if (chain.isolated_energy_kj_per_mol)
    state["isolated_energy"] = *chain.isolated_energy_kj_per_mol;
  if (chain.isolated_dipole_debye) state["isolated_dipole"] = *chain.isolated_dipole_debye;
  if (chain.movement) {
    const Movement& m = *chain.movement;
    state["movement"] = {m.displacement_angstrom, m.size_angstrom, m.molecules, m.never_moved};
  }
  state["terms"] = json::array();
  for (const auto& term : chain.averages.terms) state["terms"].push_back(average_state(term));
  state["qm_updates"] = json::array();
  for (const auto& update : chain.qm_updates) {
    state["qm_updates"].push_back(to_json_record(update));
  }
  state["blocks"] = blocks_state(chain.blocks);
  state["response_components"] = chain.response_components;
  const TableError& table = chain.table_error;
  state["table_error"] = {table.rms_kj_per_mol, table.largest_kj_per_mol, table.moves};
  return state;
}

ChainSummary chain_summary_from(const json& state) {
  ChainSummary chain;
  chain.steps = state.at("steps");
  chain.equilibration_steps = state.at("equilibration_steps");
  chain.equilibration_end = static_cast<EquilibrationEnd>(state.at("equilibration_end").get<int>());
  if (state.contains("movement")) {
    const json& values = state.at("movement");
    chain.movement = Movement{values.at(0), values.at(1), values.at(2), values.at(3)};
  }
  chain.acceptance = state.at("acceptance");
  chain.reference = state.value("reference", false);
  chain.averages.qmmm_coulomb = average_from(state.at("qmmm_coulomb"));
  chain.averages.solute = average_from(state.at("solute"));
  chain.averages.total = average_from(state.at("total"));
  chain.averages.pressure_bar = average_from(state.at("pressure"));
  // A state saved before there were the last terms has fewer.
  const json& terms = state.at("terms");
  for (std::size_t i = 0; i < std::min(chain.averages.terms.size(), terms.size()); ++i) {
    chain.averages.terms[i] = average_from(terms[i]);
  }
  chain.final_energies = energy_terms_from(state.at("final_energies"));
  chain.final_solute_energy_kj_per_mol = state.at("final_solute_energy");
  if (state.contains("isolated_energy")) {
    chain.isolated_energy_kj_per_mol = state.at("isolated_energy").get<double>();
  }
  if (state.contains("isolated_dipole")) {
    chain.isolated_dipole_debye = state.at("isolated_dipole").get<std::array<double, 3>>();
  }
  chain.dispersion_correction_kj_per_mol = state.at("dispersion_correction");
  chain.drift = energy_terms_from(state.at("drift"));
  chain.final_max_translation_angstrom = state.at("max_translation");
  chain.final_max_rotation_degrees = state.at("max_rotation");
  chain.qm_interval_steps = state.at("qm_interval");
  chain.qm_restarts = state.at("qm_restarts");
  chain.certified.active = state.at("certified");
  chain.certified.bound_kj_per_mol = state.at("certified_bound");
  chain.certified.steps = state.at("certified_steps");
  chain.certified.largest_error_in_bounds = state.at("certified_largest_error");
  chain.decisions_sha256 = state.at("decisions_sha256");
  chain.final_coordinates_sha256 = state.at("final_coordinates_sha256");
  for (const json& update : state.at("qm_updates")) {
    chain.qm_updates.push_back(qm_update_from(update));
  }
  chain.blocks = blocks_from(state.at("blocks"));
  chain.response_components = state.at("response_components");
  const json& table = state.at("table_error");
  chain.table_error = {table.at(0), table.at(1), table.at(2)};
  return chain;
}

}  // namespace starpmc
