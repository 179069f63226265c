#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace starpmc {

/// `starpmc score`: interaction energies of poses of a ligand with a receptor.
/// @param arguments what follows the word "score" on the command line
/// @return exit status (0; failures are thrown)
/// @throws InputError, RunError
int run_score(std::span<const std::string> arguments, std::ostream& out);

}  // namespace starpmc
