#include "app/energy.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/inputs.hpp"
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

nlohmann::ordered_json terms_as_json(const EnergyTerms& terms, const Inputs& inputs,
                                     double dispersion_correction) {
  nlohmann::ordered_json json;
  const auto values = terms.values();
  for (std::size_t i = 0; i < EnergyTerms::count(false); ++i) {
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
  std::unique_ptr<QmEngine> engine;
  if (inputs.system.solute) {
    engine = make_engine(settings.qm, *inputs.system.solute);
  }
  const StarpuRuntime runtime(settings.run.precision, settings.run.implementation,
                              inputs.functions);
  for (const std::string& warning : runtime.warnings()) spdlog::warn(warning);
  const auto chain = make_chain(inputs.system, settings, 0);
  nlohmann::ordered_json json;
  json["configuration"] = inputs.file;
  json["implementation"] = value_name(settings.run.implementation);
  json["precision"] = value_name(settings.run.precision);
  json["instruction_set"] = simd::instruction_set();
  json["molecules"] = inputs.system.molecules.size();
  double solute_energy = 0;
  std::optional<double> embedded_energy;  // from the zero of a run's
  if (engine != nullptr) {
    QmResult update = chain->update_density(*engine);
    check_electrons(update, settings.qm.electron_tolerance);
    const double dropped = drop_small_charges(update.grid, settings.qm.charge_threshold);
    chain->set_density(update.grid);
    json["qm"] = {{"engine", engine->name()},
                  {"energy_kj_per_mol", update.energy_kj_per_mol},
                  {"electrons_on_grid", update.electrons_on_grid},
                  {"grid_points", update.grid.size()},
                  {"dropped_charge", dropped}};
    if (update.isolated_energy_kj_per_mol) {
      json["qm"]["isolated_energy_kj_per_mol"] = *update.isolated_energy_kj_per_mol;
    }
    if (update.polarisation_energy_kj_per_mol) {
      json["qm"]["polarisation_energy_kj_per_mol"] = *update.polarisation_energy_kj_per_mol;
    }
    if (engine->name() != "frozen") {
      json["qm"]["dipole_debye"] = update.dipole_debye;
      embedded_energy = update.energy_kj_per_mol - update.isolated_energy_kj_per_mol.value_or(0);
    }
  }
  const EnergyTerms terms = chain->evaluate();
  if (embedded_energy) solute_energy = *embedded_energy - terms.qmmm_coulomb();
  const double dispersion = inputs.dispersion.energy_kj_per_mol;
  json["energies_kj_per_mol"] = terms_as_json(terms, inputs, dispersion);
  json["energies_kj_per_mol"]["qmmm_coulomb"] = terms.qmmm_coulomb();
  json["energies_kj_per_mol"]["solute"] = solute_energy;
  json["energies_kj_per_mol"]["total"] = terms.total() + solute_energy + dispersion;
  const EnergyTerms virials = chain->virial().virials;
  json["virials_kj_per_mol"] = terms_as_json(virials, inputs, inputs.dispersion.virial_kj_per_mol);
  json["pressure_bar"] = system_pressure_bar(inputs, virials.total());
  require_finite(json);
  std::cout << json_text(json);
  return 0;
}

}  // namespace starpmc
