#include "app/command_line.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <functional>
#include <iostream>

#include "app/bench.hpp"
#include "app/energy.hpp"
#include "app/expression.hpp"
#include "app/info.hpp"
#include "app/report.hpp"
#include "app/run.hpp"
#include "app/score.hpp"
#include "app/solvate.hpp"
#include "config/options.hpp"
#include "error.hpp"
#include "io/log.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

using Arguments = std::span<const std::string>;

struct Command {
  std::string_view name;
  std::string_view usage;
  std::string_view meaning;
  std::function<int(Arguments)> run;
};

const std::array<Command, 9>& commands() {
  static const std::array<Command, 9> all = {{
      {"run", "run FILE.cfg [--trace] [--section.key value ...]",
       "the simulation; results in an output folder", run_simulation},
      {"resume", "resume FOLDER", "goes on with a run that was stopped or killed",
       resume_simulation},
      {"report", "report DIR [--atoms O7,O8] [--png]",
       "one HTML page of a run's results, with plots and a picture",
       [](Arguments arguments) { return run_report(arguments, std::cout); }},
      {"energy",
       "energy FILE.cfg [--implementation scalar|simd|opencl] [--precision fp64|mixed|fixed]",
       "every energy term of the starting configuration as JSON", run_energy},
      {"solvate", "solvate --solute FILE.xyz --waters N --model tip3p",
       "puts a solute into a box of water; writes .gro and .top",
       [](Arguments arguments) { return run_solvate(arguments, std::cout); }},
      {"score",
       "score --receptor R.pqr --ligand L.pqr [--poses P.pqr|P.xyz|P.csv] [--terms coulomb+12-6]",
       "interaction energies of poses of a ligand with a receptor",
       [](Arguments arguments) { return run_score(arguments, std::cout); }},
      {"bench",
       "bench [--system A,B,C,R] [--term grid,mm,other,steps,errors] [--against paper] "
       "[--experiment cell]",
       "time of every operation and of whole steps, of every implementation, precision and device",
       [](Arguments arguments) { return run_bench(arguments, std::cout); }},
      {"expression", "expression 'TEXT' [--set NAME=VALUE]... [--json]",
       "what becomes of a pair potential: derivative, instructions, values",
       [](Arguments arguments) { return run_expression(arguments, std::cout); }},
      {"info", "info", "devices, workers, StarPU, models, QM engines", run_info},
  }};
  return all;
}

void print_help() {
  std::cout << "starpmc " STARPMC_VERSION
               ": perturbative Monte Carlo QM/MM on every CPU and OpenCL device of a machine\n\n";
  for (const Command& command : commands()) {
    std::cout << fmt::format("  starpmc {}\n      {}\n", command.usage, command.meaning);
  }
  std::cout << "  starpmc --help | --help-markdown | --version\n\n"
               "Options of a configuration file; on the command line they override it:\n\n"
            << options_help();
}

int dispatch(Arguments arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    print_help();
    return 0;
  }
  if (arguments[0] == "--version") {
    std::cout << "starpmc " STARPMC_VERSION " (StarPU " << starpu_version() << ")\n";
    return 0;
  }
  if (arguments[0] == "--help-markdown") {
    std::cout << options_markdown();
    return 0;
  }
  for (const Command& command : commands()) {
    if (command.name != arguments[0]) continue;
    const Arguments rest = arguments.subspan(1);
    const bool has_own_help = command.name == "solvate" || command.name == "score" ||
                              command.name == "bench" || command.name == "expression" ||
                              command.name == "report";
    if (!has_own_help && !rest.empty() && (rest[0] == "--help" || rest[0] == "-h")) {
      print_help();
      return 0;
    }
    return command.run(rest);
  }
  throw InputError("command line", "unknown command", arguments[0],
                   "use run, resume, report, energy, solvate, score, bench, expression or info; "
                   "`starpmc --help` lists them");
}

}  // namespace

int run_command_line(std::span<const std::string> arguments) {
  start_console_logging();
  try {
    return dispatch(arguments);
  } catch (const InputError& error) {
    std::cerr << "starpmc: error: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    spdlog::shutdown();
    std::cerr << "starpmc: error: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace starpmc
