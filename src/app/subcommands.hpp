#pragma once

#include <boost/program_options/options_description.hpp>
#include <iosfwd>
#include <span>
#include <string>

/// The subcommands besides `run` and `resume` (run.hpp): each gets what follows its name on the
/// command line and returns an exit status. Failures are thrown, InputError or RunError.
namespace starpmc {

/// `starpmc check FILE.cfg`: reads everything that `run` would, asks the QM program what it
/// refuses, tries the sampling for some seconds, and prints what would be simulated, what that
/// takes, and every error and warning. Writes nothing.
/// @return 0; 2 with errors of the input; 1 with failures of the machine
int run_check(std::span<const std::string> arguments);

/// `starpmc report`: makes one HTML page of what a run has left in its folder. The page is made by
/// src/report/report.py, which takes the place of this process (execve(2)), so that its exit status
/// is the program's.
/// @return 0: help was shown
/// @throws InputError, too, where Python or the script is missing
int run_report(std::span<const std::string> arguments, std::ostream& out);
boost::program_options::options_description report_options();

/// `starpmc energy FILE.cfg`: the terms of the starting configuration and their total as JSON on
/// standard output.
int run_energy(std::span<const std::string> arguments);
/// Those besides the configuration's.
boost::program_options::options_description energy_options();

/// `starpmc solvate`: puts a solute into a cube of water, writes coordinates (.gro) and topology
/// (.top) and says how to name them in a configuration.
int run_solvate(std::span<const std::string> arguments, std::ostream& out);
boost::program_options::options_description solvate_options();

/// `starpmc score`: interaction energies of poses of a ligand with a receptor.
int run_score(std::span<const std::string> arguments, std::ostream& out);

/// `starpmc path`: makes a reaction path of a solute, or checks one. The path is made by
/// src/path/path.py, as run_report() makes its page.
/// @return 0: help was shown, or a path was checked
int run_path(std::span<const std::string> arguments, std::ostream& out);
boost::program_options::options_description path_options();

/// `starpmc profile FILE.cfg`: the free energy along a path of the QM molecule. Each image is a run
/// in the exact ensemble; images that have been sampled are kept, so that the same command goes on
/// where it was stopped.
/// @return 0, or 128 and the number of the signal that stopped it
int run_profile(std::span<const std::string> arguments);

/// `starpmc expression 'TEXT'`: what becomes of an expression: canonical form, derivative, program
/// with its operation counts, values.
int run_expression(std::span<const std::string> arguments, std::ostream& out);
boost::program_options::options_description expression_options();

/// `starpmc bench`: times every operation and whole steps, prints tables and writes bench.csv and
/// bench.json.
int run_bench(std::span<const std::string> arguments, std::ostream& out);
boost::program_options::options_description bench_command_options();

/// `starpmc info`: what this machine offers, on standard output.
int run_info(std::span<const std::string> arguments);
boost::program_options::options_description info_options();

}  // namespace starpmc
