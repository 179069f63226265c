#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/input_errors.hpp"

namespace starpmc::config {

/// One `key = value` of a file or of the command line.
struct Assignment {
  std::string name;   ///< section.key
  std::string value;  ///< blanks around it removed
  std::string place;  ///< "run.cfg:12: sampling.steps" or "command line: --sampling.steps"
};

struct Assignments {
  std::vector<Assignment> all;
  std::set<std::string> doubtful;  ///< options that lines with errors were likely meant to set
};

/// All assignments of a .cfg file in their order; names are in the table, none comes twice. What
/// follows # or ; is a comment: see comment_start().
/// @param errors of lines, naming file and line; a line with one is left out
/// @throws InputError for a file that cannot be read
Assignments read_config_file(const std::filesystem::path& file, InputErrors& errors);

/// The same for the words of a command line.
/// @throws InputError for words that cannot be told apart
Assignments read_overrides(std::span<const std::string> words, InputErrors& errors);

}  // namespace starpmc::config
