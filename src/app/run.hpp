#pragma once

#include <boost/program_options/options_description.hpp>
#include <span>
#include <string>
#include <string_view>

namespace starpmc {

/// Those that `run` has besides the configuration's, and `resume`.
boost::program_options::options_description run_options();
boost::program_options::options_description resume_options();

/// Whether a resumed run may be given another value of an option, "--section.key": it is the same
/// run, so that only where and how it runs may change.
bool may_change_when_resumed(std::string_view option);

/// `starpmc run FILE.cfg`: the simulation.
/// @return 0, or 128 and the number of the signal that stopped it at a checkpoint
/// @throws InputError, RunError
int run_simulation(std::span<const std::string> arguments);

/// `starpmc resume FOLDER`: goes on with a run that was stopped, however that came, or that is to
/// make more steps than it was begun with.
int resume_simulation(std::span<const std::string> arguments);

}  // namespace starpmc
