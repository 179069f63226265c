#include "app/subcommands.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/inputs.hpp"
#include "app/run_reference.hpp"
#include "app/system_pressure.hpp"
#include "config/value_names.hpp"
#include "io/json_text.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "kernels/operations.hpp"
#include "qm/make_engine.hpp"
#include "qm/worker_engine.hpp"
#include "runtime/starpu_runtime.hpp"
#include "sampling/chain.hpp"
#include "sampling/reference_tables.hpp"

namespace starpmc {
namespace {

/// The short names of this command are those of the section run.
std::vector<std::string> long_names(std::span<const std::string> arguments) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  for (std::string& word : words) {
    for (const std::string name : {"--implementation", "--precision"}) {
      if (word == name || word.starts_with(name + "=")) word.replace(0, 2, "--run.");
    }
  }
  return words;
}

/// @param reference whether there is a fixed one
nlohmann::ordered_json terms_as_json(const EnergyTerms& terms, bool reference, const Inputs& inputs,
                                     double dispersion_correction) {
  nlohmann::ordered_json json;
  const auto values = terms.values();
  for (std::size_t i = 0; i < EnergyTerms::count(reference); ++i) {
    json[std::string(EnergyTerms::names[i])] = values[i];
  }
  if (inputs.settings.interaction.dispersion_correction != LongRangeDispersion::none) {
    json["dispersion_correction"] = dispersion_correction;
  }
  json["total"] = terms.total() + dispersion_correction;
  return json;
}

/// Names of the numbers that are none: JSON would say null.
void find_not_finite(const nlohmann::ordered_json& json, const std::string& name,
                     std::vector<std::string>& found) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) found.push_back(name);
  if (!json.is_structured()) return;
  for (const auto& item : json.items()) {
    find_not_finite(item.value(), name.empty() ? item.key() : name + "." + item.key(), found);
  }
}

void require_finite(const nlohmann::ordered_json& json) {
  std::vector<std::string> found;
  find_not_finite(json, "", found);
  if (found.empty()) return;
  throw RunError(fmt::format(
      "no result: {} {} not finite; sites lie on each other, a coordinate or a box edge "
      "is absurd, or a device gives wrong results (try --implementation scalar)",
      fmt::join(found, ", "), found.size() == 1 ? "is" : "are"));
}

/// The solute of the configuration, in a chain that has its field.
struct EmbeddedSolute {
  nlohmann::ordered_json json;             ///< null: none
  std::optional<double> energy;            ///< E_QM[D] + I[D], from the zero of a run's
  std::optional<double> energy_by_itself;  ///< E_QM[D], the same
};

/// The sampled Hamiltonian of the exact ensemble: no SCF.
EmbeddedSolute set_reference(const SoluteReference& reference, const Inputs& inputs, Chain& chain) {
  chain.set_reference(std::make_shared<const ReferenceTables>(reference));
  EmbeddedSolute solute;
  solute.energy_by_itself =
      reference.solute_energy_kj_per_mol - reference.isolated_energy_kj_per_mol;
  solute.json = {{"engine", reference.identity.engine},
                 {"reference", inputs.settings.qm.reference.string()},
                 {"components", reference.components},
                 {"solute_energy_kj_per_mol", reference.solute_energy_kj_per_mol},
                 {"dipole_debye", reference.dipole_debye}};
  if (reference.isolated_energy_kj_per_mol != 0) {
    solute.json["isolated_energy_kj_per_mol"] = reference.isolated_energy_kj_per_mol;
  }
  return solute;
}

/// The density of this configuration.
EmbeddedSolute set_density(QmEngine& engine, const Settings& settings, Chain& chain) {
  QmResult update = chain.update_density(engine);
  check_electrons(update, settings.qm.electron_tolerance);
  const double dropped = drop_small_charges(update.grid, settings.qm.charge_threshold);
  chain.set_density(update.grid);
  EmbeddedSolute solute;
  solute.json = {{"engine", engine.name()},
                 {"energy_kj_per_mol", update.energy_kj_per_mol},
                 {"electrons_on_grid", update.electrons_on_grid},
                 {"grid_points", update.grid.size()},
                 {"dropped_charge", dropped}};
  if (update.isolated_energy_kj_per_mol) {
    solute.json["isolated_energy_kj_per_mol"] = *update.isolated_energy_kj_per_mol;
  }
  if (update.polarisation_energy_kj_per_mol) {
    solute.json["polarisation_energy_kj_per_mol"] = *update.polarisation_energy_kj_per_mol;
  }
  if (engine.name() != "frozen") {
    solute.json["dipole_debye"] = update.dipole_debye;
    solute.energy = update.energy_kj_per_mol - update.isolated_energy_kj_per_mol.value_or(0);
  }
  return solute;
}

nlohmann::ordered_json description(const Inputs& inputs) {
  const Settings::RunSection& run = inputs.settings.run;
  nlohmann::ordered_json json;
  json["configuration"] = inputs.file;
  json["implementation"] = value_name(run.implementation);
  json["precision"] = value_name(run.precision);
  json["instruction_set"] = simd::instruction_set();
  json["molecules"] = inputs.system.molecules.size();
  return json;
}

void add_energies(const Inputs& inputs, bool reference, const EmbeddedSolute& solute, Chain& chain,
                  nlohmann::ordered_json& json) {
  const EnergyTerms terms = chain.evaluate();
  const double solute_energy =
      solute.energy ? *solute.energy - terms.qmmm_coulomb() : solute.energy_by_itself.value_or(0);
  const double dispersion = inputs.dispersion.energy_kj_per_mol;
  auto& energies = json["energies_kj_per_mol"];
  energies = terms_as_json(terms, reference, inputs, dispersion);
  energies["qmmm_coulomb"] = terms.qmmm_coulomb();
  energies["solute"] = solute_energy;
  energies["total"] = terms.total() + solute_energy + dispersion;
  const EnergyTerms virials = chain.virial().virials;
  json["virials_kj_per_mol"] =
      terms_as_json(virials, reference, inputs, inputs.dispersion.virial_kj_per_mol);
  json["pressure_bar"] = system_pressure_bar(inputs, virials.total());
}

}  // namespace

boost::program_options::options_description energy_options() {
  namespace options = boost::program_options;
  options::options_description described;
  auto add = described.add_options();
  add("implementation", options::value<std::string>(), "the same as --run.implementation");
  add("precision", options::value<std::string>(), "the same as --run.precision");
  return described;
}

int run_energy(std::span<const std::string> arguments) {
  const Inputs inputs = read_inputs(long_names(arguments), "energy");
  for (const std::string& warning : inputs.warnings) spdlog::warn(warning);
  Settings settings = inputs.settings;
  settings.output.pressure_interval =
      settings.output.energy_interval;  // the chain gets ready for it
  const std::optional<SoluteReference> reference = given_reference(inputs);
  std::unique_ptr<QmEngine> engine;
  if (inputs.system.solute && !reference) engine = make_engine(settings.qm, *inputs.system.solute);
  const StarpuRuntime runtime(settings.run.precision, settings.run.implementation,
                              inputs.functions);
  for (const std::string& warning : runtime.warnings()) spdlog::warn(warning);
  const auto chain = make_chain(inputs.system, settings, 0);
  nlohmann::ordered_json json = description(inputs);
  EmbeddedSolute solute;
  if (reference) {
    solute = set_reference(*reference, inputs, *chain);
  } else if (engine != nullptr) {
    solute = set_density(*engine, settings, *chain);
  }
  if (!solute.json.is_null()) json["qm"] = solute.json;
  add_energies(inputs, reference.has_value(), solute, *chain, json);
  require_finite(json);
  std::cout << json_text(json);
  return 0;
}

}  // namespace starpmc
