#pragma once

#include <boost/program_options/options_description.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.hpp"

namespace starpmc {

/// A subcommand: everything that command line, help, man page and shell completion know about it.
struct Command {
  using Options = boost::program_options::options_description;

  /// What follows its name.
  enum class Operand { none, configuration, run_folder, expression };

  std::string_view name;
  std::string_view usage;
  std::string_view meaning;
  Operand operand = Operand::none;
  std::function<int(std::span<const std::string>)> run;
  std::function<Options()> own_options;
  /// Which options of a configuration may be given, too; empty: none.
  std::function<bool(const config::Option&)> takes;

  /// Whether it shows a help of its own.
  bool has_own_help() const;
  std::vector<const config::Option*> configuration_options() const;
};

/// In the order of the help.
std::span<const Command> commands();

/// What is written after an option.
struct OptionValue {
  bool wanted = false;
  bool repeated = false;  ///< the option may stand several times
  bool is_path = false;
  std::vector<std::string> choices;  ///< empty: not one of few words
};
OptionValue value_of(const config::Option& option);
/// Of a subcommand's own option. Those named as one of [run] have its choices.
OptionValue value_of(const boost::program_options::option_description& option);

}  // namespace starpmc
