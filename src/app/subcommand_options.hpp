#pragma once

#include <boost/program_options.hpp>
#include <span>
#include <string>

namespace starpmc {

/// Reads the options of a subcommand that has its own.
/// @param command "starpmc solvate", the place named by error messages
/// @param arguments what follows the subcommand's name on the command line
/// @throws InputError for an unknown option, with the nearest known one, or a value of a wrong kind
boost::program_options::variables_map parse_subcommand(
    const std::string& command, const boost::program_options::options_description& described,
    std::span<const std::string> arguments);

}  // namespace starpmc
