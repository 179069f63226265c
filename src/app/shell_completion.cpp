#include "app/shell_completion.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <map>
#include <string_view>
#include <vector>

#include "app/commands.hpp"
#include "config/describe.hpp"

namespace starpmc {
namespace {

using Operand = Command::Operand;
using Words = std::vector<std::string>;

/// Instead of a subcommand.
const Words& questions() {
  static const Words all{"--help", "--version", "--help-man", "--help-markdown",
                         "--help-completion"};
  return all;
}

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// An option with what completion needs to know of it.
struct Completed {
  std::string name;  ///< with its dashes
  std::string meaning;
  OptionValue value;
};

Completed completed(const config::Option& option) {
  return {"--" + option.name(), config::described(option), value_of(option)};
}

std::vector<Completed> own_options(const Command& command) {
  std::vector<Completed> all;
  const Command::Options own = command.own_options();
  for (const auto& option : own.options()) {
    all.push_back({"--" + option->long_name(), option->description(), value_of(*option)});
  }
  if (!command.has_own_help()) {
    all.push_back({"--help", "show the program's help", OptionValue{}});
  }
  return all;
}

std::vector<Completed> configuration_options(const Command& command) {
  std::vector<Completed> all;
  for (const config::Option* option : command.configuration_options()) {
    all.push_back(completed(*option));
  }
  return all;
}

// ------------------------------------------------------------------------------------------ bash

/// `case` branches that say what may follow an option: options with the same answer share one.
std::string bash_values(const std::vector<Completed>& all) {
  std::map<std::string, Words> options_of;
  for (const Completed& option : all) {
    if (!option.value.wanted) continue;
    std::string answer = "return";
    if (!option.value.choices.empty()) {
      answer = "_starpmc_words '" + joined(option.value.choices) + "'; return";
    } else if (option.value.is_path) {
      answer = "_starpmc_files; return";
    }
    options_of[answer].push_back(option.name);
  }
  if (options_of.empty()) return {};
  std::string text = "      case $before in\n";
  for (const auto& [answer, names] : options_of) {
    text += fmt::format("        {}) {} ;;\n", fmt::join(names, " | "), answer);
  }
  return text + "      esac\n";
}

std::string bash_operand(Operand operand) {
  const auto first = [](const char* action) {
    return fmt::format("      if ((COMP_CWORD == 2)) && [[ $word != -* ]]; then {}; return; fi\n",
                       action);
  };
  switch (operand) {
    case Operand::configuration:
      return first("_starpmc_files '!*.cfg'");
    case Operand::run_folder:
      return first("_starpmc_files '*'");
    case Operand::expression:
      return first(":");
    case Operand::none:
      return {};
  }
  return {};
}

std::string names_of(const std::vector<Completed>& all) {
  Words names;
  for (const Completed& option : all) names.push_back(option.name);
  return joined(names);
}

std::string bash_command(const Command& command) {
  std::vector<Completed> all = own_options(command);
  const auto more = configuration_options(command);
  all.insert(all.end(), more.begin(), more.end());
  return fmt::format("    {})\n{}{}      _starpmc_words '{}'\n      ;;\n", command.name,
                     bash_operand(command.operand), bash_values(all), names_of(all));
}

// ------------------------------------------------------------------------------------------- zsh

/// In single quotes.
std::string in_quotes(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return "'" + result + "'";
}

/// Inside the description of one of _arguments' specifications.
std::string zsh_escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (std::string_view("[]:\\").find(letter) != std::string_view::npos) result += '\\';
    result += letter;
  }
  return result;
}

std::string zsh_option(const Completed& option) {
  std::string text = (option.value.repeated ? "*" : "") + option.name;
  if (option.value.wanted) text += '=';
  text += "[" + zsh_escaped(option.meaning) + "]";
  if (option.value.wanted) {
    text += ":value:";
    if (!option.value.choices.empty()) {
      text += "(" + joined(option.value.choices) + ")";
    } else {
      text += option.value.is_path ? "_files" : " ";
    }
  }
  return in_quotes(text);
}

std::string zsh_operand(Operand operand) {
  switch (operand) {
    case Operand::configuration:
      return " '1:configuration:_files -g \"*.cfg\"'";
    case Operand::run_folder:
      return " '1:output folder:_files -/'";
    case Operand::expression:
      return " '1:expression: '";
    case Operand::none:
      return {};
  }
  return {};
}

std::string zsh_command(const Command& command) {
  std::string text = fmt::format("    {})\n      _arguments", command.name);
  for (const Completed& option : own_options(command)) text += " \\\n        " + zsh_option(option);
  const std::size_t taken = command.configuration_options().size();
  if (taken == config::options().size()) {
    text += " \\\n        $configuration";
  } else {
    for (const Completed& option : configuration_options(command)) {
      text += " \\\n        " + zsh_option(option);
    }
  }
  return text + zsh_operand(command.operand) + "\n      ;;\n";
}

}  // namespace

std::string bash_completion() {
  Words first;
  std::string branches;
  for (const Command& command : commands()) {
    first.emplace_back(command.name);
    branches += bash_command(command);
  }
  first.insert(first.end(), questions().begin(), questions().end());
  return "# Made by `starpmc --help-completion bash`: source it, or install it as\n"
         "# bash-completion/completions/starpmc.\n"
         "# shellcheck shell=bash\n\n"
         "_starpmc_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\"); }\n\n"
         "# Files, less those of a pattern, and folders.\n"
         "_starpmc_files() {\n"
         "  mapfile -t COMPREPLY < <({ compgen -f -X \"${1:-}\" -- \"$word\"; compgen -d -- "
         "\"$word\";"
         " } | sort -u)\n"
         "  compopt -o filenames 2>/dev/null\n"
         "}\n\n"
         "_starpmc() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  # --option=value is three words.\n"
         "  if [[ $word == = ]]; then\n"
         "    word=\n"
         "  elif [[ $before == = ]] && ((COMP_CWORD > 2)); then\n"
         "    before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "  fi\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    _starpmc_words '" +
         joined(first) +
         "'\n    return\n  fi\n"
         "  case ${COMP_WORDS[1]} in\n"
         "    --help-completion) _starpmc_words 'bash zsh' ;;\n" +
         branches + "  esac\n}\n\ncomplete -F _starpmc starpmc\n";
}

std::string zsh_completion() {
  std::string text =
      "#compdef starpmc\n# Made by `starpmc --help-completion zsh`: install it as _starpmc in a "
      "folder of fpath.\n\n_starpmc() {\n  local -a subcommands configuration\n  subcommands=(\n";
  std::string branches;
  for (const Command& command : commands()) {
    text +=
        "    " + in_quotes(std::string(command.name) + ":" + std::string(command.meaning)) + "\n";
    branches += zsh_command(command);
  }
  text += "  )\n  configuration=(\n";
  for (const config::Option& option : config::options()) {
    text += "    " + zsh_option(completed(option)) + "\n";
  }
  return text +
         "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe -t subcommands subcommand subcommands\n"
         "    compadd -- " +
         joined(questions()) +
         "\n    return\n  fi\n"
         "  local subcommand=$words[2]\n"
         "  shift words\n  ((CURRENT -= 1))\n"
         "  case $subcommand in\n"
         "    --help-completion) compadd bash zsh ;;\n" +
         branches + "  esac\n}\n\n_starpmc \"$@\"\n";
}

}  // namespace starpmc
