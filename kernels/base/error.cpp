#include "kernels/base/error.hpp"

#include "kernels/base/shown_text.hpp"

namespace starpmc {
namespace {

/// Printable and short, whatever a damaged file holds.
std::string excerpt(std::string_view found) {
  constexpr std::size_t kLongest = 80;
  return shown_text(found.substr(0, kLongest)) + (found.size() > kLongest ? "..." : "");
}

std::string compose(std::string_view place, std::string_view problem, std::string_view found,
                    std::string_view remedy) {
  std::string text = shown_text(place);
  text += ": ";
  text += shown_text(problem, "\t\n");  // lists and pointers into an expression have lines
  if (!found.empty()) {
    text += ", found '";
    text += excerpt(found);
    text += "'";
  }
  if (!remedy.empty()) {
    text += "\n  remedy: ";
    text += shown_text(remedy, "\t\n");
  }
  return text;
}

}  // namespace

InputError::InputError(std::string_view place, std::string_view problem, std::string_view found,
                       std::string_view remedy)
    : std::runtime_error(compose(place, problem, found, remedy)) {}

}  // namespace starpmc
