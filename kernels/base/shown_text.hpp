#pragma once

#include <string>
#include <string_view>

namespace starpmc {

/// Text from outside (a title, a name, a path) as UTF-8 that a terminal, a log and JSON can take:
/// each byte that is not part of valid UTF-8 and each control character is written as \xNN.
/// Everything else stays, so that valid text is unchanged and text shown twice is shown alike.
/// @param kept control characters that stay, too
std::string shown_text(std::string_view text, std::string_view kept = "\t");

}  // namespace starpmc
