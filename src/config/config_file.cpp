#include "config/config_file.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "base/input_file.hpp"
#include "config/describe.hpp"
#include "config/option.hpp"
#include "config/values.hpp"
#include "kernels/base/error.hpp"

namespace starpmc::config {
namespace {

constexpr std::uintmax_t max_file_bytes = 1 << 20;

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream = open_input_file(file, "write the path of a configuration file (.cfg)");
  skip_byte_order_mark(stream, file);
  std::string text(max_file_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (!stream.is_open() || stream.bad())
    throw InputError(file.string(), "cannot be read", "", "check its permissions");
  if (text.size() > max_file_bytes || text.find('\0') != std::string::npos)
    throw InputError(file.string(), "is not a text file of at most 1 MiB", "",
                     "name the .cfg file itself");
  return text;
}

[[noreturn]] void throw_unknown(const std::string& place, const std::string& name) {
  const Option& nearest = nearest_option(name);
  throw InputError(place, "unknown option", name,
                   "did you mean '" + nearest.name() + "' (" + nearest.meaning +
                       ")? starpmc --help lists all options");
}

/// Another file, given by mistake, would have an error in each of its lines.
void require_configuration(const std::filesystem::path& file, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::string first;
  while (std::getline(lines, line)) {
    const std::string_view words = trim(line);
    if (words.starts_with('[')) return;
    if (first.empty() && !words.starts_with('#') && !words.starts_with(';')) first = words;
    if (first.find('=') != std::string::npos) return;
  }
  if (first.empty()) return;
  throw InputError(file.string(), "is not a configuration: it has no [section]", first,
                   "name the .cfg file; starpmc solvate prints one");
}

/// Reads the lines one by one, to say exactly where each key stands and what is wrong with a line.
class LineScanner {
 public:
  explicit LineScanner(std::string file) : file_(std::move(file)) {}

  Assignments scan(const std::string& text, InputErrors& errors) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
      ++line_number_;
      errors.attempt([&] { scan_line(trim(line)); });
    }
    return std::move(assignments_);
  }

 private:
  std::string place() const { return file_ + ":" + std::to_string(line_number_); }

  void scan_line(std::string_view line) {
    if (line.empty() || line.front() == '#' || line.front() == ';') return;
    if (line.front() == '[') return scan_section(trim(line.substr(0, line.find_first_of("#;"))));
    const std::size_t equals = line.substr(0, line.find('#')).find('=');
    if (equals == std::string_view::npos)
      throw InputError(place(), "neither a [section] nor key = value", line,
                       "write key = value, or start the line with # if it is a comment");
    const std::string key(trim(line.substr(0, equals)));
    if (key.empty()) throw InputError(place(), "no key before '='", line, "write key = value");
    if (section_.empty())
      throw InputError(place(), "a key before the first section", key,
                       "write the section's name in brackets above it" + section_hint(key));
    const Option& option = record(section_ + "." + key);
    const std::string_view value = line.substr(equals + 1);
    assignments_.all.push_back({option.name(),
                                std::string(trim(value.substr(0, comment_start(option, value)))),
                                places_.at(option.name())});
  }

  void scan_section(std::string_view line) {
    if (line.back() != ']')
      throw InputError(place(), "the section's name is not closed", line,
                       "write the name in brackets, alone on its line, as in [system]");
    section_ = line.substr(1, line.size() - 2);
    const bool known = std::ranges::any_of(
        options(), [&](const Option& option) { return option.section == section_; });
    if (known) return;
    const Option& nearest = *std::ranges::min_element(options(), {}, [&](const Option& option) {
      return edit_distance(section_, option.section);
    });
    const std::string unknown = std::exchange(section_, nearest.section);
    throw InputError(place(), "unknown section", unknown,
                     "did you mean [" + nearest.section +
                         "]? The sections are system, interaction, potential, sampling, qm, run, "
                         "output, profile");
  }

  const Option& record(const std::string& name) {
    const Option* const option = find_option(name);
    if (option == nullptr) {
      assignments_.doubtful.insert(nearest_option(name).name());
      throw_unknown(place(), name);
    }
    const auto [earlier, is_new] = places_.try_emplace(name, place() + ": " + name);
    if (!is_new)
      throw InputError(place(), "option given twice", name,
                       "remove one of the two lines, the other is " +
                           earlier->second.substr(0, earlier->second.find(": ")));
    return *option;
  }

  static std::string section_hint(const std::string& key) {
    const auto found = std::ranges::find(options(), key, &Option::key);
    return found == options().end() ? std::string{} : ": [" + found->section + "]";
  }

  std::string file_;
  std::size_t line_number_ = 0;
  std::string section_;
  std::map<std::string, std::string> places_;
  Assignments assignments_;
};

/// Boost knows words by their first letters and in any case unless told not to.
constexpr int command_line_style = boost::program_options::command_line_style::allow_long |
                                   boost::program_options::command_line_style::long_allow_next |
                                   boost::program_options::command_line_style::long_allow_adjacent;

Assignment override_of(const boost::program_options::option& parsed) {
  const std::string place = "command line: --" + parsed.string_key;
  if (parsed.string_key.empty())
    throw InputError("command line", "not an option", join(parsed.original_tokens, " "),
                     "write --section.key value");
  if (find_option(parsed.string_key) == nullptr) throw_unknown("command line", parsed.string_key);
  return {parsed.string_key, std::string(trim(join(parsed.value, " "))), place};
}

}  // namespace

Assignments read_config_file(const std::filesystem::path& file, InputErrors& errors) {
  const std::string text = read_text(file);
  require_configuration(file, text);
  return LineScanner(file.string()).scan(text, errors);
}

Assignments read_overrides(std::span<const std::string> words, InputErrors& errors) {
  namespace po = boost::program_options;
  const auto description = boost_description();
  Assignments assignments;
  bool known = true;
  const auto add = [&](const auto& parsed) {
    // The value of an unknown option stands alone, as Boost cannot know that it takes one.
    if (parsed.string_key.empty() && !known) return;
    known = parsed.string_key.empty() || find_option(parsed.string_key) != nullptr;
    if (!known) assignments.doubtful.insert(nearest_option(parsed.string_key).name());
    const Assignment assignment = override_of(parsed);
    if (std::ranges::find(assignments.all, assignment.name, &Assignment::name) !=
        assignments.all.end())
      throw InputError(assignment.place, "option given twice", assignment.value, "give it once");
    assignments.all.push_back(assignment);
  };
  try {
    const auto parsed = po::command_line_parser(std::vector(words.begin(), words.end()))
                            .options(*description)
                            .style(command_line_style)
                            .allow_unregistered()
                            .run();
    for (const auto& option : parsed.options) errors.attempt([&] { add(option); });
  } catch (const po::error& failure) {
    throw InputError("command line", failure.what(), "", "write --section.key value");
  }
  return assignments;
}

}  // namespace starpmc::config
