#pragma once

#include <boost/program_options/options_description.hpp>
#include <span>
#include <string>

namespace starpmc {

/// `starpmc check`: reads everything that `run` would, asks the QM program what it refuses, tries
/// the sampling for some seconds, and prints what would be simulated, what that takes, and every
/// error and warning. Writes nothing.
/// @param arguments FILE.cfg and overrides
/// @return exit status: 0; 2 with errors of the input; 1 with failures of the machine
int run_check(std::span<const std::string> arguments);

}  // namespace starpmc
