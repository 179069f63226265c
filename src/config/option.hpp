#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace starpmc::config {

/// What a relative path is relative to.
struct PathContext {
  std::filesystem::path folder;
};

/// One line of the table of options: everything the program and its documentation know about it.
struct Option {
  std::string section;
  std::string key;
  std::string unit;     ///< empty for none
  std::string allowed;  ///< range or choices
  std::string meaning;
  bool required = false;
  std::vector<std::string> choices{};  ///< words that are allowed; a kind may allow other text, too
  bool is_path = false;
  bool is_expression = false;
  /// @throws ValueProblem
  std::function<void(Settings&, std::string_view text, const PathContext&)> set;
  std::function<std::string(const Settings&)> get;

  std::string name() const { return section + "." + key; }
};

/// Where a comment begins in what follows the = of an option, or npos: at # or ;. A path may hold
/// either, so that there it takes a blank before it, and ; is part of the language of expressions.
std::size_t comment_start(const Option& option, std::string_view value);

/// All options, grouped by section in the order of the documentation.
std::span<const Option> options();
/// nullptr if there is none of that name.
const Option* find_option(std::string_view name);
/// The option whose name is nearest to a misspelt one.
const Option& nearest_option(std::string_view name);
/// "coordinates and what is treated by quantum mechanics", for the heading of a section.
std::string section_meaning(std::string_view section);
/// Default as text: the value a default Settings holds.
std::string default_text(const Option& option);

}  // namespace starpmc::config
