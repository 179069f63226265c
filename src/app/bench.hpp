#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace starpmc {

/// `starpmc bench`: times every operation and whole steps, prints tables and writes bench.csv and
/// bench.json.
/// @param arguments what follows the word "bench" on the command line
/// @return exit status (0; failures are thrown)
/// @throws InputError, RunError
int run_bench(std::span<const std::string> arguments, std::ostream& out);

}  // namespace starpmc
