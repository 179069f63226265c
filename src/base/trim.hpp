#pragma once

#include <string_view>

namespace starpmc {

inline constexpr std::string_view kBlanks = " \t\r\n\v\f";

/// The text without blanks at its ends.
inline std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace starpmc
