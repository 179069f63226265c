#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/trim.hpp"

namespace starpmc {

/// "file:line", the place named by error messages.
std::string place_of(const std::filesystem::path& file, std::size_t line);

inline constexpr std::size_t most_lines_of_a_file = 5'000'000;

/// All lines of a text file, without line ends ("\n" or "\r\n") and a byte order mark, as
/// shown_text() shows them.
/// @param remedy what to do if the file is not there
/// @throws InputError if the file cannot be read, is not a regular one, or is larger than 256 MiB
/// or
///         most_lines_of_a_file
std::vector<std::string> read_lines(const std::filesystem::path& file, std::string_view remedy);

/// The same with the bytes of the file: where columns are counted in bytes, or paths are named.
std::vector<std::string> read_byte_lines(const std::filesystem::path& file,
                                         std::string_view remedy);

std::vector<std::string_view> split_words(std::string_view text);
std::string lower_case(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// A finite number.
/// @param what the quantity and its unit, for the message
/// @throws InputError if the text is no number, or not finite
double parse_number(std::string_view text, std::string_view place, std::string_view what);

/// An integer of at least `minimum`, and at most `maximum`.
/// @throws InputError otherwise
long parse_integer(std::string_view text, std::string_view place, std::string_view what,
                   long minimum, long maximum = std::numeric_limits<long>::max());

/// The name most like `name`, or an empty string where none is similar.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

/// `fallback`, preceded by "did you mean 'X'? " where a known name is similar.
std::string suggest(std::string_view name, std::span<const std::string> known,
                    std::string_view fallback);

}  // namespace starpmc
