#include "config/values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>

namespace starpmc::config {
namespace {

std::string number_remedy(std::string_view kind, const std::string& range, std::string_view unit) {
  std::string remedy = "write ";
  remedy += kind;
  if (!range.empty()) remedy += ", " + range;
  if (!unit.empty()) {
    remedy += "; it is taken in ";
    remedy += unit;
    remedy += ", the unit itself is not written";
  }
  return remedy;
}

/// std::from_chars does not know a leading plus sign.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

/// Signs, blanks and digits that are copied from a text may look right and be others.
std::string not_a(const std::string& kind, std::string_view text) {
  const bool foreign = std::ranges::any_of(text, [](unsigned char c) { return c >= 0x80; });
  return "not " + kind + (foreign ? " (a character in it is not ASCII: type it anew)" : "");
}

template <typename Number>
Number parse_number(std::string_view text, const std::string& kind, const std::string& remedy) {
  const std::string_view digits = without_plus(text);
  Number value{};
  const char* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, value);
  if (failure == std::errc::result_out_of_range)
    throw ValueProblem("number too large or too small for the computer", remedy);
  if (failure != std::errc{}) throw ValueProblem(not_a(kind, text), remedy);
  if (stop != end) {
    const std::string rest(stop, end);
    throw ValueProblem(not_a(kind, text) + ": '" + rest + "' follows it", remedy);
  }
  return value;
}

/// Of a range whose text does not tell it, where the number is larger.
std::string text_of_largest(std::string_view text, const IntegerRange& range) {
  if (range.maximum != IntegerRange::unlimited || text.starts_with('-')) return "";
  double value = 0;
  const std::string_view digits = without_plus(text);
  const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool larger = failure == std::errc::result_out_of_range ||
                      value > static_cast<double>(IntegerRange::unlimited);
  return larger ? " and at most " + number_text(static_cast<double>(IntegerRange::unlimited)) : "";
}

/// In digits, or as 1e6 or 2.5e6, where that is a whole number that fp64 holds exactly.
std::int64_t parse_whole(std::string_view text, const std::string& remedy) {
  if (text.find_first_of("eE") != std::string_view::npos) {
    constexpr double kLargestExact = 0x1p53;
    const auto value = parse_number<double>(text, "a whole number", remedy);
    if (value == std::trunc(value) && std::abs(value) <= kLargestExact) {
      return static_cast<std::int64_t>(value);
    }
    throw ValueProblem(value == std::trunc(value) ? "out of range" : "not a whole number", remedy);
  }
  return parse_number<std::int64_t>(text, "a whole number", remedy);
}

}  // namespace

bool RealRange::contains(double value) const {
  const bool above = minimum_open ? value > minimum : value >= minimum;
  const bool below = maximum_open ? value < maximum : value <= maximum;
  return above && below;
}

std::string RealRange::text() const {
  const bool bounded_below = std::isfinite(minimum);
  const bool bounded_above = std::isfinite(maximum);
  if (bounded_below && bounded_above && !minimum_open && !maximum_open)
    return number_text(minimum) + " to " + number_text(maximum);
  std::string text;
  if (bounded_below) text = (minimum_open ? "greater than " : "at least ") + number_text(minimum);
  if (bounded_above) {
    if (!text.empty()) text += " and ";
    text += (maximum_open ? "less than " : "at most ") + number_text(maximum);
  }
  return text;
}

std::string IntegerRange::text() const {
  if (maximum == unlimited) return "at least " + std::to_string(minimum);
  return std::to_string(minimum) + " to " + std::to_string(maximum);
}

double parse_real(std::string_view text, const RealRange& range, std::string_view unit) {
  const std::string remedy = number_remedy("a number", range.text(), unit);
  const double value = parse_number<double>(text, "a number", remedy);
  if (!std::isfinite(value)) throw ValueProblem("not a finite number", remedy);
  if (!range.contains(value)) throw ValueProblem("out of range", remedy);
  return value;
}

std::int64_t parse_integer(std::string_view text, const IntegerRange& range,
                           std::string_view unit) {
  const std::string remedy = number_remedy("a whole number, as 1000000 or 1e6",
                                           range.text() + text_of_largest(text, range), unit);
  const auto value = parse_whole(text, remedy);
  if (!range.contains(value)) throw ValueProblem("out of range", remedy);
  return value;
}

std::uint64_t parse_unsigned(std::string_view text) {
  const std::string remedy = "write a whole number in digits, 0 to 18446744073709551615";
  if (text.starts_with('-')) throw ValueProblem("out of range", remedy);
  return parse_number<std::uint64_t>(text, "a whole number", remedy);
}

bool parse_boolean(std::string_view text) {
  for (std::string_view word : {"true", "yes", "on", "1"})
    if (text == word) return true;
  for (std::string_view word : {"false", "no", "off", "0"})
    if (text == word) return false;
  throw ValueProblem("neither true nor false", "write true or false");
}

std::string parse_choice(std::string_view text, std::span<const std::string> choices) {
  const auto match = std::ranges::find(choices, text);
  if (match != choices.end()) return *match;
  std::string remedy = "write one of: " + join(choices, ", ");
  const auto nearest = std::ranges::min_element(
      choices, {}, [&](const std::string& choice) { return edit_distance(text, choice); });
  if (nearest != choices.end() && edit_distance(text, *nearest) <= 2)
    remedy = "did you mean '" + *nearest + "'? " + remedy;
  throw ValueProblem("not one of the choices", remedy);
}

std::vector<std::string> parse_list(std::string_view text) {
  std::vector<std::string> parts;
  if (trim(text).empty()) return parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trim(text.substr(0, comma));
    if (part.empty())
      throw ValueProblem("an element of the list is empty",
                         "write the elements separated by single commas");
    parts.emplace_back(part);
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string> parse_defines(std::string_view text) {
  std::vector<std::string> defines = parse_list(text);
  const auto is_symbol = [](std::string_view name) {
    const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
           std::ranges::all_of(name, fits);
  };
  for (const std::string& define : defines) {
    const std::string_view name = trim(std::string_view(define).substr(0, define.find('=')));
    if (!is_symbol(name)) {
      throw ValueProblem("not the name of a symbol: '" + std::string(name) + "'",
                         "write names of letters, digits and _, without -D, separated by commas");
    }
  }
  return defines;
}

std::string number_text(double value) {
  std::array<char, 32> buffer{};
  char* const end = buffer.data() + buffer.size();
  constexpr double largest_in_full = 1e9;
  const bool in_full = std::abs(value) <= largest_in_full && value == std::trunc(value);
  const auto result = in_full ? std::to_chars(buffer.data(), end, value, std::chars_format::fixed)
                              : std::to_chars(buffer.data(), end, value);
  return {buffer.data(), result.ptr};
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace starpmc::config
