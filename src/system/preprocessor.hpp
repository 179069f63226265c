#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace starpmc {

/// A line of a topology after preprocessing: comments removed, continued lines joined, defined
/// names replaced, never blank.
struct SourceLine {
  std::string text;
  std::string place;  ///< file:line
};

/// Runs the preprocessor of GROMACS topologies: #include "..." and <...> (searched beside the
/// including file, in `include_folders`, then in GROMACS's own folders), #define with values,
/// #undef, #ifdef, #ifndef, #else, #endif, #error.
/// @param defines names set beforehand: "FLEXIBLE" or "NAME=VALUE"
/// @throws InputError naming file and line
std::vector<SourceLine> preprocess(const std::filesystem::path& file,
                                   std::span<const std::string> defines,
                                   std::span<const std::filesystem::path> include_folders);

}  // namespace starpmc
