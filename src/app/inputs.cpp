#include "app/inputs.hpp"

#include <utility>

#include "app/input_checks.hpp"
#include "bench/paper_boxes.hpp"
#include "config/options.hpp"
#include "error.hpp"
#include "potential/pair_potential.hpp"
#include "system/read_system.hpp"

namespace starpmc {

Inputs read_inputs(std::span<const std::string> arguments, const std::string& command) {
  if (arguments.empty() || arguments[0].starts_with("--")) {
    throw InputError("command line", "no configuration file", arguments.empty() ? "" : arguments[0],
                     "write: starpmc " + command + " FILE.cfg [--section.key value ...]");
  }
  Inputs inputs;
  inputs.file = arguments[0];
  make_paper_boxes_of(inputs.file);
  OptionPlaces places(inputs.file);
  inputs.settings = read_settings(inputs.file, arguments.subspan(1), &places);
  const Settings::SystemSection& files = inputs.settings.system;
  inputs.system =
      read_system({files.coordinates, files.topology, files.solute, files.qm_molecule,
                   files.defines, files.include_folders, files.rigid, inputs.settings.qm.elements});
  if (inputs.system.molecules.empty()) {
    throw InputError(files.topology.string(), "there is no MM molecule to move", files.qm_molecule,
                     "add molecules to [ molecules ], e.g. with starpmc solvate");
  }
  check_electron_count(inputs.system, inputs.settings, places);
  resolve_cutoffs(inputs.settings, inputs.system.box, places);
  inputs.dispersion = dispersion_correction(inputs.system, inputs.settings, places);
  PairPotential potential = make_pair_potential(inputs.system, inputs.settings, places);
  inputs.functions = std::move(potential.functions);
  inputs.warnings = inputs.system.warnings;
  for (const auto& more :
       {input_warnings(inputs.system, inputs.settings, places), potential.warnings}) {
    inputs.warnings.insert(inputs.warnings.end(), more.begin(), more.end());
  }
  return inputs;
}

}  // namespace starpmc
