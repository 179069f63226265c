#pragma once

#include <boost/program_options/options_description.hpp>
#include <span>
#include <string>

namespace starpmc {

/// Those besides the configuration's.
boost::program_options::options_description energy_options();

/// `starpmc energy FILE.cfg [--implementation I] [--precision P]`: the terms of the starting
/// configuration and their total as JSON on standard output.
/// @throws InputError, RunError
int run_energy(std::span<const std::string> arguments);

}  // namespace starpmc
