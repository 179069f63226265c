#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/input_file.hpp"
#include "config/option.hpp"
#include "config/values.hpp"
#include "kernels/base/installation.hpp"
#include "kernels/base/shown_text.hpp"

/// Makers of the table's options, one per kind of value.
namespace starpmc::config {

/// What the reader of the table needs to see of an option, apart from its kind.
struct Label {
  const char* section;
  const char* key;
  const char* unit;
  const char* meaning;
};

inline Option labelled(const Label& label, std::string allowed,
                       std::vector<std::string> choices = {}) {
  return {.section = label.section,
          .key = label.key,
          .unit = label.unit,
          .allowed = std::move(allowed),
          .meaning = label.meaning,
          .required = false,
          .choices = std::move(choices),
          .is_path = false,
          .is_expression = false,
          .set = {},
          .get = {}};
}

// Each maker takes a generic lambda `field` that returns the member of Settings, constant or not.

template <typename Field>
Option real(const Label& label, RealRange range, Field field) {
  Option option = labelled(label, range.text());
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    field(settings) = parse_real(text, range, label.unit);
  };
  option.get = [=](const Settings& settings) { return number_text(field(settings)); };
  return option;
}

template <typename Field>
Option integer(const Label& label, IntegerRange range, Field field) {
  Option option = labelled(label, range.text());
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    using Integer = std::remove_reference_t<decltype(field(settings))>;
    field(settings) = static_cast<Integer>(parse_integer(text, range, label.unit));
  };
  option.get = [=](const Settings& settings) { return std::to_string(field(settings)); };
  return option;
}

/// An integer that the program chooses where it is 0, written "auto".
template <typename Field>
Option integer_or_auto(const Label& label, IntegerRange range, Field field) {
  Option option = integer(label, range, field);
  option.allowed = "auto, " + range.text();
  option.choices = {"auto"};
  option.set = [=, set = option.set](Settings& settings, std::string_view text,
                                     const PathContext& context) {
    if (text == "auto") {
      field(settings) = 0;
    } else {
      set(settings, text, context);
    }
  };
  option.get = [=](const Settings& settings) {
    return field(settings) == 0 ? "auto" : std::to_string(field(settings));
  };
  return option;
}

/// An integer, 0 perhaps among them, that the program finds where it is none, written "auto".
template <typename Field>
Option optional_integer(const Label& label, IntegerRange range, Field field) {
  Option option = labelled(label, "auto, " + range.text(), {"auto"});
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    field(settings).reset();
    if (text != "auto") field(settings) = parse_integer(text, range, label.unit);
  };
  option.get = [=](const Settings& settings) {
    return field(settings) ? std::to_string(*field(settings)) : "auto";
  };
  return option;
}

template <typename Field>
Option unsigned_integer(const Label& label, Field field) {
  Option option = labelled(label, "0 to 18446744073709551615");
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    field(settings) = parse_unsigned(text);
  };
  option.get = [=](const Settings& settings) { return std::to_string(field(settings)); };
  return option;
}

template <typename Field>
Option boolean(const Label& label, Field field) {
  Option option = labelled(label, "true, false", {"true", "false"});
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    field(settings) = parse_boolean(text);
  };
  option.get = [=](const Settings& settings) -> std::string {
    return field(settings) ? "true" : "false";
  };
  return option;
}

/// A choice kept as text.
template <typename Field>
Option choice(const Label& label, std::vector<std::string> choices, Field field) {
  Option option = labelled(label, join(choices, ", "), choices);
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    field(settings) = parse_choice(text, choices);
  };
  option.get = [=](const Settings& settings) { return field(settings); };
  return option;
}

/// A choice kept as an enumerator: choices[i] stands for the enumerator of value i.
template <typename Field>
Option enumeration(const Label& label, std::vector<std::string> choices, Field field) {
  Option option = labelled(label, join(choices, ", "), choices);
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    using Enumeration = std::remove_reference_t<decltype(field(settings))>;
    const auto found = std::ranges::find(choices, parse_choice(text, choices));
    field(settings) = static_cast<Enumeration>(found - choices.begin());
  };
  option.get = [=](const Settings& settings) {
    return choices.at(static_cast<std::size_t>(field(settings)));
  };
  return option;
}

/// Orders of Lebedev's quadrature that the engines know.
template <typename Field>
Option lebedev(const Label& label, Field field) {
  static const std::vector<std::string> orders = {
      "6",    "14",   "26",   "38",   "50",   "74",   "86",   "110",  "146",  "170",  "194",
      "230",  "266",  "302",  "350",  "434",  "590",  "770",  "974",  "1202", "1454", "1730",
      "2030", "2354", "2702", "3074", "3470", "3890", "4334", "4802", "5294", "5810"};
  Option option =
      labelled(label, "a Lebedev order: 6, 14, 26, 38, 50, ..., 302, ..., 974, ..., 5810", orders);
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    field(settings) = static_cast<int>(
        parse_integer(parse_choice(text, orders), IntegerRange{6, 5810}, label.unit));
  };
  option.get = [=](const Settings& settings) { return std::to_string(field(settings)); };
  return option;
}

template <typename Field>
Option word(const Label& label, bool may_be_empty, Field field) {
  Option option = labelled(label, may_be_empty ? "a name, or empty" : "a name");
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    if (text.empty() && !may_be_empty) throw ValueProblem("empty", "write a name");
    field(settings) = shown_text(text);
  };
  option.get = [=](const Settings& settings) { return field(settings); };
  return option;
}

/// A pair function: its text is read when the system is known.
/// @param choices words that stand for something else than an expression
template <typename Field>
Option expression(const Label& label, std::vector<std::string> choices, Field field) {
  Option option = labelled(
      label, choices.empty() ? "an expression, or empty" : join(choices, ", ") + ", an expression",
      choices);
  option.is_expression = true;
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    if (text.empty() && !choices.empty())
      throw ValueProblem("empty", "write " + join(choices, ", ") + " or an expression");
    field(settings) = shown_text(text);
  };
  option.get = [=](const Settings& settings) { return field(settings); };
  return option;
}

template <typename Field>
Option words(const Label& label, Field field) {
  Option option = labelled(label, "names separated by commas, or empty");
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    field(settings) = parse_list(shown_text(text));
  };
  option.get = [=](const Settings& settings) { return join(field(settings), ", "); };
  return option;
}

/// Symbols of a preprocessor.
template <typename Field>
Option defines(const Label& label, Field field) {
  Option option = words(label, field);
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    field(settings) = parse_defines(shown_text(text));
  };
  return option;
}

/// Relative paths in a file are meant from that file's folder, wherever the program is started;
/// those that begin with {cache}/ lie in starpmc's cache.
inline std::filesystem::path resolve(std::string_view text, const PathContext& context) {
  if (text.empty()) return {};
  constexpr std::string_view kCache = "{cache}/";
  const std::filesystem::path path = text.starts_with(kCache)
                                         ? cache_folder() / text.substr(kCache.size())
                                         : context.folder / std::filesystem::path(text);
  return without_dots(std::filesystem::absolute(path));
}

template <typename Field>
Option input_path(const Label& label, bool may_be_empty, Field field) {
  Option option = labelled(label, may_be_empty ? "a path, or empty" : "a path");
  option.is_path = true;
  option.set = [=](Settings& settings, std::string_view text, const PathContext& context) {
    if (text.empty() && !may_be_empty) throw ValueProblem("empty", "write the path of the file");
    field(settings) = resolve(text, context);
  };
  option.get = [=](const Settings& settings) { return field(settings).string(); };
  return option;
}

/// A bare word is a command to be found in PATH.
template <typename Field>
Option program_path(const Label& label, Field field) {
  Option option = labelled(label, "a path, a command found in PATH, or empty");
  option.is_path = true;
  option.set = [=](Settings& settings, std::string_view text, const PathContext& context) {
    const bool is_command = text.find('/') == std::string_view::npos;
    field(settings) = is_command ? std::filesystem::path(text) : resolve(text, context);
  };
  option.get = [=](const Settings& settings) { return field(settings).string(); };
  return option;
}

template <typename Field>
Option output_path(const Label& label, Field field) {
  Option option = labelled(label, "a path");
  option.is_path = true;
  option.set = [=](Settings& settings, std::string_view text, const PathContext&) {
    if (text.empty()) throw ValueProblem("empty", "write the path of a folder");
    field(settings) = text;
  };
  option.get = [=](const Settings& settings) { return field(settings).string(); };
  return option;
}

template <typename Field>
Option path_list(const Label& label, Field field) {
  Option option = labelled(label, "paths separated by commas, or empty");
  option.is_path = true;
  option.set = [=](Settings& settings, std::string_view text, const PathContext& context) {
    auto& paths = field(settings);
    paths.clear();
    for (const std::string& part : parse_list(text)) paths.push_back(resolve(part, context));
  };
  option.get = [=](const Settings& settings) {
    std::vector<std::string> texts;
    for (const auto& path : field(settings)) {
      texts.push_back(path.string());
      if (texts.back().find(',') != std::string::npos)
        throw ValueProblem("a path in a list contains a comma", "rename the folder");
    }
    return join(texts, ", ");
  };
  return option;
}

inline Option required(Option option) {
  option.required = true;
  return option;
}

}  // namespace starpmc::config
