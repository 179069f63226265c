#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/edit_distance.hpp"
#include "base/trim.hpp"

namespace starpmc::config {

/// What is wrong with the text of a value; the reader adds where it stands.
struct ValueProblem : std::runtime_error {
  ValueProblem(const std::string& what_is_wrong, std::string what_to_do)
      : std::runtime_error(what_is_wrong), remedy(std::move(what_to_do)) {}
  std::string remedy;
};

/// Interval of allowed real numbers; bounds belong to it unless they are open.
struct RealRange {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_open = false;
  bool maximum_open = false;

  bool contains(double value) const;
  std::string text() const;  ///< "greater than 0", "0 to 180", ...
};

struct IntegerRange {
  /// Stands for "no upper limit" in text(); no run is that long, and sums of two still fit.
  static constexpr std::int64_t unlimited = 1'000'000'000'000'000;

  std::int64_t minimum = 0;
  std::int64_t maximum = unlimited;

  bool contains(std::int64_t value) const { return value >= minimum && value <= maximum; }
  std::string text() const;
};

/// Whole text as a finite number in `range`.
/// @param unit for the remedy; empty for a pure number
/// @throws ValueProblem
double parse_real(std::string_view text, const RealRange& range, std::string_view unit);
/// @throws ValueProblem
std::int64_t parse_integer(std::string_view text, const IntegerRange& range, std::string_view unit);
/// @throws ValueProblem
std::uint64_t parse_unsigned(std::string_view text);
/// true/false, yes/no, on/off, 1/0. @throws ValueProblem
bool parse_boolean(std::string_view text);
/// @throws ValueProblem naming the choices, and the nearest one first where it is near
std::string parse_choice(std::string_view text, std::span<const std::string> choices);
/// Comma-separated, blanks around elements removed; an empty text is an empty list.
/// @throws ValueProblem for an empty element
std::vector<std::string> parse_list(std::string_view text);

/// The same of symbols, NAME or NAME=VALUE.
/// @throws ValueProblem for a name that no topology can have
std::vector<std::string> parse_defines(std::string_view text);

/// Decimal text that reads back to the same bits: the shortest, or all digits of a whole number.
std::string number_text(double value);
std::string join(std::span<const std::string> parts, std::string_view separator);

}  // namespace starpmc::config
