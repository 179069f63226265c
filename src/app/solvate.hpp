#pragma once

#include <boost/program_options/options_description.hpp>
#include <iosfwd>
#include <span>
#include <string>

namespace starpmc {

boost::program_options::options_description solvate_options();

/// `starpmc solvate`: puts a solute into a cube of water, writes coordinates (.gro) and topology
/// (.top) and says how to name them in a configuration.
/// @param arguments what follows the word "solvate" on the command line
/// @return exit status (0; failures are thrown)
/// @throws InputError, RunError
int run_solvate(std::span<const std::string> arguments, std::ostream& out);

}  // namespace starpmc
