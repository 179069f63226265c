#include "error.hpp"

namespace starpmc {
namespace {

/// Printable and short, whatever a damaged file holds.
std::string shown(std::string_view found) {
  constexpr std::size_t kLongest = 80;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : found.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += "\\x";
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    } else {
      text += c;
    }
  }
  if (found.size() > kLongest) text += "...";
  return text;
}

std::string compose(std::string_view place, std::string_view problem, std::string_view found,
                    std::string_view remedy) {
  std::string text(place);
  text += ": ";
  text += problem;
  if (!found.empty()) {
    text += ", found '";
    text += shown(found);
    text += "'";
  }
  if (!remedy.empty()) {
    text += "\n  remedy: ";
    text += remedy;
  }
  return text;
}

}  // namespace

InputError::InputError(std::string_view place, std::string_view problem, std::string_view found,
                       std::string_view remedy)
    : std::runtime_error(compose(place, problem, found, remedy)) {}

}  // namespace starpmc
