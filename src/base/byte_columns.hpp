#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace starpmc {

// Columns of .gro and PDB files are counted in bytes; fmt pads to the width on a screen.

/// As much of a text in UTF-8 as has at most `most` bytes, without a part of a character.
std::string_view first_bytes(std::string_view text, std::size_t most);

/// Exactly `width` bytes: cut by first_bytes(), then blanks after it.
std::string left_column(std::string_view text, std::size_t width);

/// Exactly `width` bytes: cut by first_bytes(), then blanks before it.
std::string right_column(std::string_view text, std::size_t width);

}  // namespace starpmc
