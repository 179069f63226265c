#pragma once

#include <boost/program_options/options_description.hpp>
#include <iosfwd>
#include <span>
#include <string>

namespace starpmc {

boost::program_options::options_description bench_command_options();

/// `starpmc bench`: times every operation and whole steps, prints tables and writes bench.csv and
/// bench.json.
/// @param arguments what follows the word "bench" on the command line
/// @return exit status (0; failures are thrown)
/// @throws InputError, RunError
int run_bench(std::span<const std::string> arguments, std::ostream& out);

}  // namespace starpmc
