#pragma once

#include <boost/program_options/options_description.hpp>
#include <iosfwd>
#include <span>
#include <string>

namespace starpmc {

boost::program_options::options_description path_options();

/// `starpmc path`: makes a reaction path of a solute, or checks one. The path is made by
/// src/path/path.py, which takes the place of this process (execve(2)), so that its exit status is
/// the program's.
/// @param arguments what follows the word "path" on the command line
/// @return exit status (0: help was shown, or a path was checked)
/// @throws InputError for bad options or files, and where Python or the script is missing; RunError
///         when Python cannot be started
int run_path(std::span<const std::string> arguments, std::ostream& out);

}  // namespace starpmc
