#include "app/man_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <string_view>
#include <utility>

#include "app/commands.hpp"
#include "config/describe.hpp"

namespace starpmc {
namespace {

namespace options = boost::program_options;

/// Text that roff shows as it is, also at the start of a line.
std::string escaped(std::string_view text) {
  constexpr std::array<std::pair<char, std::string_view>, 6> kEscapes{{{'\\', "\\e"},
                                                                       {'-', "\\-"},
                                                                       {'\'', "\\(aq"},
                                                                       {'`', "\\(ga"},
                                                                       {'^', "\\(ha"},
                                                                       {'~', "\\(ti"}}};
  std::string result;
  if (text.starts_with('.')) result += "\\&";
  for (const char letter : text) {
    const auto found =
        std::ranges::find(kEscapes, letter, &std::pair<char, std::string_view>::first);
    if (found == kEscapes.end()) {
      result += letter;
    } else {
      result += found->second;
    }
  }
  return result;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escaped(text)); }

/// A term and what it means, indented.
std::string item(const std::string& term, std::string_view meaning) {
  return fmt::format(".TP\n{}\n{}\n", term, escaped(meaning));
}

/// Boost writes "arg (=tip3p)" for an argument with a default.
std::string default_of(const options::option_description& option) {
  const std::string argument = option.semantic()->name();
  const std::size_t begin = argument.find("(=");
  return begin == std::string::npos ? "" : argument.substr(begin + 2, argument.size() - begin - 3);
}

std::string item(const options::option_description& option) {
  std::string term = bold("--" + option.long_name());
  if (option.semantic()->max_tokens() > 0) term += fmt::format(" {}", italic("VALUE"));
  const std::string standard = default_of(option);
  const std::string end = standard.empty() ? "" : fmt::format("; default {}", standard);
  return item(term, option.description() + end);
}

std::string item(const config::Option& option) {
  return item(
      bold("--" + option.name()) + " " + italic(option.unit.empty() ? "VALUE" : option.unit),
      config::described(option));
}

/// The options of a configuration that a subcommand takes, in words.
std::string configuration_of(const Command& command) {
  const auto taken = command.configuration_options();
  if (taken.empty()) return {};
  if (taken.size() == config::options().size()) {
    return ".PP\nEvery option of the configuration (below) may be given, too, and overrides the "
           "file.\n";
  }
  std::string text =
      ".PP\nOptions of the configuration (below) that only change where and how it runs may be "
      "given, too:";
  for (std::size_t i = 0; i < taken.size(); ++i) {
    text += fmt::format("\n.BR \\-\\-{} {}", escaped(taken[i]->name()),
                        i + 1 < taken.size() ? ',' : '.');
  }
  return text + "\n";
}

std::string subcommands() {
  std::string text = ".SH SUBCOMMANDS\n";
  for (const Command& command : commands()) {
    text += fmt::format(".SS starpmc {}\n.B starpmc {}\n.PP\n{}.\n", escaped(command.name),
                        escaped(command.usage), escaped(command.meaning));
    const Command::Options own = command.own_options();
    for (const auto& option : own.options()) text += item(*option);
    text += configuration_of(command);
  }
  return text;
}

std::string configuration() {
  std::string text =
      ".SH CONFIGURATION\n"
      "A configuration has sections and lines\n.IR \"key = value\" ;\n"
      ".B #\nstarts a comment. On the command line\n"
      ".BI \\-\\-section.key\\  value\n"
      "overrides it. Relative paths in the file are relative to its folder, those on the command "
      "line\nand\n.B output.folder\nto the working directory.\n";
  std::string section;
  for (const config::Option& option : config::options()) {
    if (option.section != section) {
      section = option.section;
      text +=
          fmt::format(".SS [{}] {}\n", escaped(section), escaped(config::section_meaning(section)));
    }
    text += item(option);
  }
  return text;
}

constexpr const char* kEnd = R"(.SH EXIT STATUS
.TP
.B 0
success
.TP
.B 1
failure at run time
.TP
.B 2
wrong input; the message names the file, line or key, the value found and the remedy
.TP
.BR 130 ", " 143 ", " 129
stopped by Ctrl\-C, SIGTERM or a closed terminal (SIGHUP);
.B starpmc resume
goes on
.SH ENVIRONMENT
.TP
.B STARPU_SCHED
scheduler; default dmda. The other variables of StarPU have their meaning, too.
.TP
.BR STARPU_NCPU ", " STARPU_NOPENCL =0
number of CPU workers; no OpenCL
.TP
.BR STARPU_OPENCL_ON_CPUS =1
use PoCL\(aqs CPU device
.TP
.B XDG_CACHE_HOME
holds the folder
.I starpmc
with calibrations and compiled kernels; default
.I \(ti/.cache
.SH FILES
In the folder
.BR output.folder :
.TP
.I energies.csv
energies against step
.TP
.I trajectory.h5md
positions in H5MD; its topology is
.I system.pdb
.TP
.IR final.gro ", " final.pdb
the last positions
.TP
.I summary.json
averages with errors, QM updates, timings, versions
.TP
.I settings.cfg
the complete configuration, defaults included
.TP
.I checkpoint.cbor
what
.B starpmc resume
goes on from
.TP
.I run.log
what happened;
.I qm\-worker.log
what the QM program said
.SH EXAMPLES
.nf
starpmc solvate \-\-solute molecule.xyz \-\-waters 1000 \-\-output molecule
starpmc run molecule.cfg \-\-sampling.seed 2 \-\-output.folder second
starpmc resume second
starpmc report second
.fi
)";

}  // namespace

std::string man_page() {
  std::string text =
      ".\\\" Made by `starpmc --help-man`.\n.TH STARPMC 1 \"\" \"starpmc " STARPMC_VERSION
      "\" \"User Commands\"\n.SH NAME\n"
      "starpmc \\- perturbative Monte Carlo QM/MM on every CPU and OpenCL device of a machine\n"
      ".SH SYNOPSIS\n.nh\n.nf\n";
  for (const Command& command : commands()) {
    text += fmt::format("{} {}\n", bold("starpmc"), escaped(command.usage));
  }
  return text + bold("starpmc") +
         " \\-\\-help | \\-\\-version | \\-\\-help\\-man | \\-\\-help\\-markdown | "
         "\\-\\-help\\-completion bash|zsh\n.fi\n" +
         subcommands() + configuration() + kEnd;
}

}  // namespace starpmc
