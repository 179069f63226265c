#include "kernels/base/shown_text.hpp"

#include <algorithm>
#include <cstddef>

namespace starpmc {
namespace {

bool continues(std::string_view text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;
}

/// Bytes of the character at the beginning of `text`; 0: it is not UTF-8. Longer forms than needed,
/// surrogates and what lies beyond U+10FFFF are not (RFC 3629).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !continues(text, 1)) return 0;
  if (first < 0xe0) return 2;
  const bool too_low = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool too_high = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  if (too_low || too_high || !continues(text, 2)) return 0;
  if (first < 0xf0) return 3;
  return continues(text, 3) ? 4 : 0;
}

/// Including those of two bytes, U+0080 to U+009F, which some terminals obey.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::string shown_text(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string shown;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, bytes == 0 ? 1 : bytes);
    const bool escaped =
        bytes == 0 || (is_control(character) && kept.find(character) == std::string_view::npos);
    for (const char c : character) {
      if (escaped) {
        const auto byte = static_cast<unsigned char>(c);
        shown += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
      } else {
        shown += c;
      }
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace starpmc
