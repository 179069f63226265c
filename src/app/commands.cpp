#include "app/commands.hpp"

#include <algorithm>
#include <array>
#include <iostream>

#include "app/run.hpp"
#include "app/score_request.hpp"
#include "app/subcommands.hpp"

namespace starpmc {
namespace {

using Arguments = std::span<const std::string>;
using Operand = Command::Operand;

bool every_option(const config::Option& /*option*/) { return true; }

bool of_a_resumed_run(const config::Option& option) {
  return may_change_when_resumed("--" + option.name());
}

/// A subcommand that prints what it finds.
std::function<int(Arguments)> printing(int (*command)(Arguments, std::ostream&)) {
  return [command](Arguments arguments) { return command(arguments, std::cout); };
}

const std::array<Command, 12>& all_commands() {
  static const std::array<Command, 12> all = {{
      {"run", "run FILE.cfg [--trace] [--section.key value ...]",
       "the simulation; results in an output folder", Operand::configuration, run_simulation,
       run_options, every_option},
      {"check", "check FILE.cfg [--section.key value ...]",
       "what a run would simulate and take, and all it would refuse or warn of; writes nothing",
       Operand::configuration, run_check, [] { return Command::Options(); }, every_option},
      {"resume", "resume FOLDER [--steps N] [--trace] [--section.key value ...]",
       "goes on with a run that was stopped or killed, or with a finished one for more steps",
       Operand::run_folder, resume_simulation, resume_options, of_a_resumed_run},
      {"report",
       "report DIR [--pairs O7:OW,N:OW] [--png] [--xtc]",
       "one HTML page of a run's results, with plots and a picture; radial distribution functions",
       Operand::run_folder,
       printing(run_report),
       report_options,
       {}},
      {"energy",
       "energy FILE.cfg [--implementation scalar|simd|opencl] [--precision fp64|mixed|fixed]",
       "every energy term of the starting configuration as JSON", Operand::configuration,
       run_energy, energy_options, every_option},
      {"solvate",
       "solvate --solute FILE.xyz --waters N --model tip3p",
       "puts a solute into a box of water; writes .gro and .top",
       Operand::none,
       printing(run_solvate),
       solvate_options,
       {}},
      {"path",
       "path --transition-state GUESS.xyz | --from A.xyz --to B.xyz | --check PATH.xyz",
       "a reaction path of a solute: transition state, both ways down, images",
       Operand::none,
       printing(run_path),
       path_options,
       {}},
      {"profile", "profile FILE.cfg [--section.key value ...]",
       "the free energy along a path of the QM molecule; the same command goes on with it",
       Operand::configuration, run_profile, [] { return Command::Options(); }, every_option},
      {"score",
       "score --receptor R.pqr --ligand L.pqr [--poses P.pqr|P.xyz|P.csv] [--terms coulomb+12-6]",
       "interaction energies of poses of a ligand with a receptor",
       Operand::none,
       printing(run_score),
       score_options,
       {}},
      {"bench",
       "bench [--system A,B,C,R] [--term grid,mm,other,steps,errors,poses,roots]",
       "time of every operation and of whole steps, of every implementation, precision and device",
       Operand::none,
       printing(run_bench),
       bench_command_options,
       {}},
      {"expression",
       "expression 'TEXT' [--set NAME=VALUE]... [--json]",
       "what becomes of a pair potential: derivative, instructions, values",
       Operand::expression,
       printing(run_expression),
       expression_options,
       {}},
      {"info",
       "info [--qm.python PATH]",
       "devices, workers, StarPU, models, QM engines and their versions",
       Operand::none,
       run_info,
       info_options,
       {}},
  }};
  return all;
}

}  // namespace

bool Command::has_own_help() const { return own_options().find_nothrow("help", false) != nullptr; }

std::vector<const config::Option*> Command::configuration_options() const {
  std::vector<const config::Option*> found;
  for (const config::Option& option : config::options()) {
    if (takes && takes(option)) found.push_back(&option);
  }
  return found;
}

std::span<const Command> commands() { return all_commands(); }

OptionValue value_of(const config::Option& option) {
  return {.wanted = true, .repeated = false, .is_path = option.is_path, .choices = option.choices};
}

OptionValue value_of(const boost::program_options::option_description& option) {
  OptionValue value{.wanted = option.semantic()->max_tokens() > 0,
                    .repeated = option.semantic()->is_composing(),
                    .is_path = false,
                    .choices = {}};
  if (!value.wanted) return value;
  const config::Option* const namesake = config::find_option("run." + option.long_name());
  if (namesake != nullptr) value.choices = namesake->choices;
  value.is_path = value.choices.empty();
  return value;
}

}  // namespace starpmc
