#include "app/command_line.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands.hpp"
#include "app/kernel_builders.hpp"
#include "app/man_page.hpp"
#include "app/shell_completion.hpp"
#include "config/describe.hpp"
#include "config/option.hpp"
#include "config/options.hpp"
#include "io/log.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/shown_text.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

using Arguments = std::span<const std::string>;

void print_help() {
  std::cout << "starpmc " STARPMC_VERSION
               ": perturbative Monte Carlo QM/MM on every CPU and OpenCL device of a machine\n\n";
  for (const Command& command : commands()) {
    std::cout << fmt::format("  starpmc {}\n      {}\n", command.usage, command.meaning);
  }
  std::cout << "  starpmc --help | --version\n"
               "  starpmc --help-man | --help-markdown | --help-completion bash|zsh\n"
               "      man page, tables of options, completion of the command line\n\n"
               "Options of a configuration file; on the command line they override it:\n\n"
            << options_help();
}

/// Of a subcommand without a help of its own.
void print_help_of(const Command& command) {
  std::cout << fmt::format("Usage: starpmc {}\n\n{}\n", command.usage, command.meaning);
  const Command::Options own = command.own_options();
  if (!own.options().empty()) std::cout << "\nOptions:\n" << own;
  const std::vector<const config::Option*> taken = command.configuration_options();
  if (taken.empty()) return;
  if (taken.size() == config::options().size()) {
    std::cout << "\nOptions of a configuration, whose file they override:\n\n" << options_help();
    return;
  }
  std::cout << "\nOptions of a configuration that may be given anew:\n";
  for (const config::Option* option : taken) {
    std::cout << fmt::format("  --{}\n      {}\n", option->name(), config::described(*option));
  }
}

void print_completion(Arguments arguments) {
  const std::string shell = arguments.empty() ? "" : arguments[0];
  if (shell == "bash") {
    std::cout << bash_completion();
  } else if (shell == "zsh") {
    std::cout << zsh_completion();
  } else {
    throw InputError("--help-completion", "unknown shell", shell, "write bash or zsh");
  }
}

/// Words that are no subcommand; false: it is none of them.
bool answer_question(Arguments arguments) {
  const std::string question = arguments.empty() ? "--help" : arguments[0];
  if (question == "--help" || question == "-h" || question == "help") {
    print_help();
  } else if (question == "--version") {
    std::cout << "starpmc " STARPMC_VERSION " (StarPU " << starpu_version() << ")\n";
  } else if (question == "--help-markdown") {
    std::cout << options_markdown();
  } else if (question == "--help-man") {
    std::cout << man_page();
  } else if (question == "--help-completion") {
    print_completion(arguments.subspan(1));
  } else {
    return false;
  }
  return true;
}

int dispatch(Arguments arguments) {
  if (answer_question(arguments)) return 0;
  if (arguments[0] == kBuildKernels) return build_kernels_asked_for();
  help_with_kernels();
  std::vector<std::string_view> names;
  for (const Command& command : commands()) {
    names.push_back(command.name);
    if (command.name != arguments[0]) continue;
    const Arguments rest = arguments.subspan(1);
    const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
    if (!command.has_own_help() && std::ranges::any_of(rest, asks)) {
      print_help_of(command);
      return 0;
    }
    return command.run(rest);
  }
  throw InputError(
      "command line", "unknown command", arguments[0],
      fmt::format("use one of {}; `starpmc --help` describes them", fmt::join(names, ", ")));
}

bool is_wrong_path(const std::error_code& code) {
  return code == std::errc::filename_too_long || code == std::errc::too_many_symbolic_link_levels;
}

/// What may be done about a refusal of the system's.
std::string remedy_of(const std::error_code& code) {
  if (code == std::errc::resource_unavailable_try_again) {
    return "  remedy: no more threads or processes may be started: see ulimit -u, the limits of "
           "the "
           "job or container, and sampling.chains\n";
  }
  if (is_wrong_path(code)) return "  remedy: name another file or folder\n";
  if (code == std::errc::too_many_files_open) return "  remedy: see ulimit -n\n";
  return "";
}

/// A table that is cut short, on a disk that is full, must not pass for whole. Whoever closes a
/// pipe has read enough.
int told_of_lost_output(int status) {
  errno = 0;
  std::cout.flush();
  const bool failed = std::cout.fail() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed || errno == EPIPE) return status;
  std::cerr << "starpmc: error: standard output could not be written"
            << (errno == 0 ? std::string() : ": " + std::generic_category().message(errno))
            << "\n  remedy: make room, or send it elsewhere\n";
  return status == 0 ? 1 : status;
}

}  // namespace

int run_command_line(std::span<const std::string> arguments) {
  start_console_logging();
  try {
    return told_of_lost_output(dispatch(arguments));
  } catch (const InputError& error) {
    std::cerr << "starpmc: error: " << error.what() << '\n';
    return 2;
  } catch (const std::bad_alloc&) {
    spdlog::shutdown();
    std::cerr
        << "starpmc: error: the memory is not enough for this (see ulimit -v and the limits of "
           "the job or container)\n  remedy: take a smaller system, fewer sampling.chains or "
           "grid points, or a machine with more memory\n";
    return 1;
  } catch (const std::filesystem::filesystem_error& error) {
    spdlog::shutdown();
    const std::string path = shown_text(error.path1().string());
    std::cerr << fmt::format("starpmc: error: {}: {}\n{}", path, error.code().message(),
                             remedy_of(error.code()));
    return is_wrong_path(error.code()) ? 2 : 1;
  } catch (const std::system_error& error) {
    spdlog::shutdown();
    std::cerr << fmt::format("starpmc: error: the system refused what the program needs: {}\n{}",
                             shown_text(error.what()), remedy_of(error.code()));
    return 1;
  } catch (const std::exception& error) {
    spdlog::shutdown();
    std::cerr << "starpmc: error: " << shown_text(error.what(), "\t\n") << '\n';
    return 1;
  }
}

}  // namespace starpmc
