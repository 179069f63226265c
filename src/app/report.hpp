#pragma once

#include <boost/program_options/options_description.hpp>
#include <iosfwd>
#include <span>
#include <string>

namespace starpmc {

boost::program_options::options_description report_options();

/// `starpmc report`: makes one HTML page of what a run has left in its folder. The page is made by
/// src/report/report.py, which takes the place of this process (execve(2)), so that its exit status
/// is the program's.
/// @param arguments what follows the word "report" on the command line
/// @return exit status (0: help was shown)
/// @throws InputError for bad options, and where Python or the script is missing; RunError when
///         Python cannot be started
int run_report(std::span<const std::string> arguments, std::ostream& out);

}  // namespace starpmc
