#include "base/byte_columns.hpp"

namespace starpmc {
namespace {

/// Whether a character of UTF-8 goes on with this byte.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

std::string_view first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && continues(text[end])) --end;
  return text.substr(0, end);
}

std::string left_column(std::string_view text, std::size_t width) {
  std::string column(first_bytes(text, width));
  column.resize(width, ' ');
  return column;
}

std::string right_column(std::string_view text, std::size_t width) {
  const std::string_view cut = first_bytes(text, width);
  return std::string(width - cut.size(), ' ').append(cut);
}

}  // namespace starpmc
