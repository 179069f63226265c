#include "io/chain_summary_state.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/energy_terms_json.hpp"
#include "io/json_fields.hpp"
#include "io/table_error_fields.hpp"

namespace starpmc {

using nlohmann::json;

static void to_json(json& state, const AverageEstimate& average) {
  state = {average.mean,           average.error,
           average.standard_error, average.statistical_inefficiency,
           average.count,          average.degrees_of_freedom,
           average.long_enough};
}

static void from_json(const json& state, AverageEstimate& average) {
  average = {state.at(0), state.at(1), state.at(2), state.at(3),
             state.at(4), state.at(5), state.at(6)};
}

namespace {

/// Those that are kept as they are.
template <class Chain, class Field>
void chain_fields(Chain& chain, const Field& field) {
  field("steps", chain.steps);
  field("equilibration_steps", chain.equilibration_steps);
  field("equilibration_end", chain.equilibration_end);
  field("acceptance", chain.acceptance);
  field("qmmm_coulomb", chain.averages.qmmm_coulomb);
  field("solute", chain.averages.solute);
  field("total", chain.averages.total);
  field("pressure", chain.averages.pressure_bar);
  field("final_energies", chain.final_energies);
  field("final_solute_energy", chain.final_solute_energy_kj_per_mol);
  field("isolated_energy", chain.isolated_energy_kj_per_mol);
  field("isolated_dipole", chain.isolated_dipole_debye);
  field("dispersion_correction", chain.dispersion_correction_kj_per_mol);
  field("drift", chain.drift);
  field("max_translation", chain.final_max_translation_angstrom);
  field("max_rotation", chain.final_max_rotation_degrees);
  field("qm_interval", chain.qm_interval_steps);
  field("qm_restarts", chain.qm_restarts);
  field("certified", chain.certified.active);
  field("certified_bound", chain.certified.bound_kj_per_mol);
  field("certified_steps", chain.certified.steps);
  field("certified_largest_error", chain.certified.largest_error_in_bounds);
  field("decisions_sha256", chain.decisions_sha256);
  field("final_coordinates_sha256", chain.final_coordinates_sha256);
  field("response_components", chain.response_components);
}

}  // namespace

json chain_summary_state(const ChainSummary& chain) {
  json state{{"reference", chain.reference}, {"terms", chain.averages.terms}};
  chain_fields(chain, PutFields{state});
  if (chain.movement) {
    const Movement& m = *chain.movement;
    state["movement"] = {m.displacement_angstrom, m.size_angstrom, m.molecules, m.never_moved};
  }
  state["qm_updates"] = json::array();
  for (const auto& update : chain.qm_updates) {
    state["qm_updates"].push_back(to_json_record(update));
  }
  state["blocks"] = blocks_state(chain.blocks);
  table_error_fields(chain.table_error, PutFields{state["table_error"]});
  table_error_fields(chain.response_error, PutFields{state["response_error"]});
  return state;
}

ChainSummary chain_summary_from(const json& state) {
  ChainSummary chain;
  chain_fields(chain, TakeFields{state});
  chain.reference = state.value("reference", false);
  if (state.contains("movement")) {
    const json& values = state.at("movement");
    chain.movement = Movement{values.at(0), values.at(1), values.at(2), values.at(3)};
  }
  // A state saved before there were the last terms has fewer.
  const json& terms = state.at("terms");
  for (std::size_t i = 0; i < std::min(chain.averages.terms.size(), terms.size()); ++i) {
    terms[i].get_to(chain.averages.terms[i]);
  }
  for (const json& update : state.at("qm_updates")) {
    chain.qm_updates.push_back(qm_update_from(update));
  }
  chain.blocks = blocks_from(state.at("blocks"));
  table_error_fields(chain.table_error, TakeFields{state.at("table_error")});
  table_error_fields(chain.response_error, TakeFields{state.at("response_error")});
  return chain;
}

}  // namespace starpmc
