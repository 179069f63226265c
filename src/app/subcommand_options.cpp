#include "app/subcommand_options.hpp"

#include <vector>

#include "kernels/base/error.hpp"
#include "system/text.hpp"

namespace starpmc {

namespace options = boost::program_options;

options::variables_map parse_subcommand(const std::string& command,
                                        const options::options_description& described,
                                        std::span<const std::string> arguments) {
  options::variables_map values;
  const std::string help = "see " + command + " --help";
  try {
    const std::vector<std::string> words(arguments.begin(), arguments.end());
    options::store(options::command_line_parser(words)
                       .options(described)
                       .positional(options::positional_options_description())
                       .style(options::command_line_style::default_style &
                              ~options::command_line_style::allow_guessing)
                       .run(),
                   values);
    options::notify(values);
  } catch (const options::unknown_option& error) {
    std::vector<std::string> known;
    for (const auto& option : described.options()) known.push_back("--" + option->long_name());
    throw InputError(command, "unknown option", error.get_option_name(),
                     suggest(error.get_option_name(), known, help));
  } catch (const options::error& error) {
    throw InputError(command, error.what(), "", help);
  }
  return values;
}

}  // namespace starpmc
