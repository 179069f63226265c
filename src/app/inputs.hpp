#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/input_errors.hpp"
#include "config/option_places.hpp"
#include "config/settings.hpp"
#include "io/output_folder.hpp"
#include "kernels/potential.hpp"
#include "potential/dispersion_correction.hpp"
#include "system/read_system.hpp"
#include "system/system.hpp"

namespace starpmc {

/// A checked configuration and the system it names.
struct Inputs {
  std::string file;
  Settings settings;  ///< cutoffs resolved
  System system;
  /// MM molecules as the second chain begins, and further ones: system.chain-coordinates.
  std::vector<std::vector<Molecule>> chain_starts;
  /// As the chains begin that the reference density is made from: system.reference-coordinates;
  /// empty: as the run's.
  std::vector<std::vector<Molecule>> reference_starts;
  MoleculeOrder order;  ///< of the molecules in the topology
  Potential functions;  ///< the user's pair functions
  DispersionCorrection dispersion;
  std::vector<std::string> warnings;
};

/// @param arguments FILE.cfg and overrides
/// @param command   name of the subcommand, for messages
/// @throws InputError
Inputs read_inputs(std::span<const std::string> arguments, const std::string& command);

/// The system as a chain begins: its MM molecules and those of chain_starts take turns.
System system_of_chain(const Inputs& inputs, std::uint32_t number);
/// The same of a chain that the reference density is made from.
System system_of_reference_chain(const Inputs& inputs, std::uint32_t number);

/// The files that a configuration names and a run reads; the configuration itself is not among
/// them.
std::vector<InputPath> input_paths(const Settings& settings);

/// The system of a configuration with another topology.
/// @throws InputError
System read_system_with(const Settings& settings, const std::filesystem::path& topology);

/// @param errors of what can be read independently of each other: lines and values of the
///               configuration, its files, cutoffs, expressions
/// @param inputs what could be read, without warnings where there are errors
void read_inputs(std::span<const std::string> arguments, const std::string& command, Inputs& inputs,
                 InputErrors& errors);

}  // namespace starpmc
