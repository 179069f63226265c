#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/input_errors.hpp"
#include "config/option_places.hpp"
#include "config/settings.hpp"
#include "system/geometry.hpp"

namespace starpmc {

/// Reads a `.cfg` file (INI sections, `key = value`, `#` starts a comment), applies overrides from
/// the command line and checks every value and the combinations of them.
/// Relative paths in the file are relative to the file's folder, those on the command line and
/// output.folder to the working directory; input paths come back absolute.
/// @param overrides words of the command line: "--section.key", "value" or "--section.key=value"
/// @param places    set to where each option was given, for later messages; null: not wanted
/// @throws InputError naming file:line or the command line option, the value found and the remedy
Settings read_settings(const std::filesystem::path& file, std::span<const std::string> overrides,
                       OptionPlaces* places = nullptr);
/// @param errors of single lines, values, and combinations of options without an error of their own
/// @return options with errors have their defaults, as have those whose file does not exist
Settings read_settings(const std::filesystem::path& file, std::span<const std::string> overrides,
                       OptionPlaces* places, InputErrors& errors);

/// Makes cutoffs of 0 explicit (Coulomb: half the shortest edge; van der Waals: the Coulomb cutoff)
/// and checks them against the box.
/// @throws InputError naming the option if a cutoff exceeds half the shortest edge
void resolve_cutoffs(Settings& settings, const Box& box, const OptionPlaces& places);
void resolve_cutoffs(Settings& settings, const Box& box, const OptionPlaces& places,
                     InputErrors& errors);

/// The complete configuration as a `.cfg` file with units; read_settings() of it gives the same
/// Settings.
std::string settings_as_config(const Settings& settings);

/// "section.key = value" of each option that has another value than its default, in lines.
std::string settings_off_default(const Settings& settings);

/// Every option, grouped, with unit, default and meaning, for `--help`.
std::string options_help();

/// The same as Markdown tables, for configs/README.md (`--help-markdown`).
std::string options_markdown();

}  // namespace starpmc
