#pragma once

#include <span>
#include <string>

namespace starpmc {

/// Runs the program with its command line (without the program's name).
/// @return exit status: 0 success, 1 failure at run time, 2 bad input
int run_command_line(std::span<const std::string> arguments);

}  // namespace starpmc
