#pragma once

#include <boost/program_options/options_description.hpp>
#include <span>
#include <string>

namespace starpmc {

/// `starpmc check`: reads everything that `run` would, prints what would be simulated and all
/// warnings. Starts nothing and writes nothing.
/// @param arguments FILE.cfg and overrides
/// @return exit status (0; what run would refuse is thrown)
/// @throws InputError
int run_check(std::span<const std::string> arguments);

}  // namespace starpmc
