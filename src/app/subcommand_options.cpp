#include "app/subcommand_options.hpp"

#include <cstdint>
#include <vector>

#include "kernels/base/error.hpp"
#include "system/text.hpp"

namespace starpmc {

namespace options = boost::program_options;

namespace {

/// What may be written as an option's value.
std::string form_of(const options::options_description& described, const std::string& name) {
  const std::size_t begin = name.find_first_not_of('-');
  const options::option_description* const option =
      begin == std::string::npos ? nullptr : described.find_nothrow(name.substr(begin), false);
  if (option == nullptr) return "";
  const auto is = [&]<typename Number>(Number) {
    return dynamic_cast<const options::typed_value<Number>*>(option->semantic().get()) != nullptr;
  };
  if (is(double{})) return "write a number; ";
  const bool whole = is(int{}) || is(long{}) || is(unsigned{}) || is(std::uint64_t{});
  return whole ? "write a whole number in digits; " : "";
}

}  // namespace

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
  } catch (const options::validation_error& error) {
    throw InputError(command, error.what(), "", form_of(described, error.get_option_name()) + help);
  } catch (const options::error& error) {
    throw InputError(command, error.what(), "", help);
  }
  return values;
}

}  // namespace starpmc
