#include "error.hpp"

namespace starpmc {
namespace {

std::string compose(std::string_view place, std::string_view problem, std::string_view found,
                    std::string_view remedy) {
  std::string text(place);
  text += ": ";
  text += problem;
  if (!found.empty()) {
    text += ", found '";
    text += found;
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
