#pragma once

#include <span>
#include <string>

namespace starpmc {

/// `starpmc run FILE.cfg`: the simulation.
/// @return 0, or 130 or 143 where SIGINT or SIGTERM stopped it at a checkpoint
/// @throws InputError, RunError
int run_simulation(std::span<const std::string> arguments);

/// `starpmc resume FOLDER`: goes on with a run that was stopped, however that came.
int resume_simulation(std::span<const std::string> arguments);

}  // namespace starpmc
