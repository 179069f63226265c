#pragma once

#include <span>
#include <string>

namespace starpmc {

/// `starpmc run FILE.cfg`: the simulation.
/// @throws InputError, RunError
int run_simulation(std::span<const std::string> arguments);

}  // namespace starpmc
