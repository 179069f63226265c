#include "config/describe.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <sstream>

#include "config/option.hpp"
#include "config/options.hpp"
#include "config/values.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace config {
namespace {

constexpr unsigned help_columns = 100;

/// Calls `visit_section` before the first option of each section and `visit_option` for each
/// option.
template <typename VisitSection, typename VisitOption>
void for_each(VisitSection visit_section, VisitOption visit_option) {
  std::string section;
  for (const Option& option : options()) {
    if (option.section != section) visit_section(section = option.section);
    visit_option(option);
  }
}

}  // namespace

std::string described(const Option& option) {
  std::string text = option.meaning;
  if (!option.unit.empty()) text += " [" + option.unit + "]";
  text += "; " + option.allowed;
  const std::string standard = default_text(option);
  if (option.required) return text + "; required";
  return standard.empty() ? text : text + "; default " + standard;
}

std::unique_ptr<boost::program_options::options_description> boost_description() {
  namespace po = boost::program_options;
  auto all = std::make_unique<po::options_description>(help_columns, help_columns / 2);
  std::unique_ptr<po::options_description> group;
  const auto add_group = [&] {
    if (group) all->add(*group);
  };
  for_each(
      [&](const std::string& section) {
        add_group();
        group = std::make_unique<po::options_description>(
            "[" + section + "] " + section_meaning(section), help_columns, help_columns / 2);
      },
      [&](const Option& option) {
        group->add_options()(
            option.name().c_str(),
            po::value<std::string>()->value_name(option.unit.empty() ? "VALUE" : option.unit),
            described(option).c_str());
      });
  add_group();
  return all;
}

void check_writable(const Option& option, std::string_view value) {
  if (trim(value) != value || value.find_first_of("\n\r") != std::string::npos ||
      comment_start(option, " " + std::string(value)) != std::string_view::npos)
    throw ValueProblem("cannot be written in a .cfg file",
                       "use a value without comment signs (of paths: # or ; at the beginning or "
                       "after a blank), line breaks or blanks at its ends (rename the file or "
                       "folder)");
}

std::string config_text(const Option& option, const Settings& settings) {
  std::string value = option.get(settings);
  check_writable(option, value);
  return value;
}

}  // namespace config

std::string options_help() {
  std::ostringstream text;
  text << *config::boost_description();
  return text.str();
}

std::string options_markdown() {
  std::string text;
  config::for_each(
      [&](const std::string& section) {
        text += fmt::format(
            "{}### [{}] {}\n\n| Key | Unit | Default | Allowed | Meaning "
            "|\n|---|---|---|---|---|\n",
            text.empty() ? "" : "\n", section, config::section_meaning(section));
      },
      [&](const config::Option& option) {
        std::string standard = config::default_text(option);
        if (option.required)
          standard = "*required*";
        else if (!standard.empty())
          standard = fmt::format("`{}`", standard);
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", option.key, option.unit, standard,
                            option.allowed, option.meaning);
      });
  return text;
}

std::string settings_as_config(const Settings& settings) {
  std::string text = "# Every option of this run. Units are in the comments.\n";
  config::for_each(
      [&](const std::string& section) { text += "\n[" + section + "]\n"; },
      [&](const config::Option& option) {
        text += "# " + option.meaning;
        if (!option.unit.empty()) text += " [" + option.unit + "]";
        try {
          text += "\n" + option.key + " = " + config::config_text(option, settings) + "\n";
        } catch (const config::ValueProblem& problem) {
          throw InputError(option.name(), problem.what(), option.get(settings), problem.remedy);
        }
      });
  return text;
}

std::string settings_off_default(const Settings& settings) {
  std::string text;
  for (const config::Option& option : config::options()) {
    const std::string value = option.get(settings);
    if (value != config::default_text(option))
      text += fmt::format("{} = {}\n", option.name(), value);
  }
  return text;
}

}  // namespace starpmc
