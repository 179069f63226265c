#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace starpmc::config {

/// One `key = value` of a file or of the command line.
struct Assignment {
  std::string name;   ///< section.key
  std::string value;  ///< blanks around it removed
  std::string place;  ///< "run.cfg:12: sampling.steps" or "command line: --sampling.steps"
};

/// All assignments of a .cfg file in their order; names are in the table, none comes twice. What
/// follows # or ; is a comment: see comment_start().
/// @throws InputError naming file and line
std::vector<Assignment> read_config_file(const std::filesystem::path& file);

/// The same for the words of a command line.
/// @throws InputError naming the option
std::vector<Assignment> read_overrides(std::span<const std::string> words);

}  // namespace starpmc::config
