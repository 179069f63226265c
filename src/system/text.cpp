#include "system/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/edit_distance.hpp"
#include "base/input_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/shown_text.hpp"

namespace starpmc {
namespace {

char to_lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::string place_of(const std::filesystem::path& file, std::size_t line) {
  return fmt::format("{}:{}", shown_text(file.string()), line);
}

std::vector<std::string> read_lines(const std::filesystem::path& file, std::string_view remedy) {
  std::vector<std::string> lines = read_byte_lines(file, remedy);
  for (std::string& line : lines) line = shown_text(line, kBlanks);
  return lines;
}

std::vector<std::string> read_byte_lines(const std::filesystem::path& file,
                                         std::string_view remedy) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20U;
  std::ifstream stream = open_input_file(file, remedy);
  checked_file_size(file, most_bytes, remedy);
  skip_byte_order_mark(stream, file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    if (lines.size() == most_lines_of_a_file) {
      throw InputError(place_of(file, lines.size() + 1),
                       fmt::format("the file has more than {} lines", most_lines_of_a_file), "",
                       remedy);
    }
    lines.push_back(std::move(line));
  }
  if (stream.bad()) throw RunError(fmt::format("{}: cannot be read any further", file.string()));
  return lines;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  return lower;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return lower_case(a) == lower_case(b);
}

double parse_number(std::string_view text, std::string_view place, std::string_view what) {
  std::string_view digits = trim(text);
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  double value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || status != std::errc() || end != digits.data() + digits.size()) {
    throw InputError(place, fmt::format("{} is not a number", what),
                     trim(text).empty() ? "nothing" : trim(text), "write a decimal number");
  }
  if (!std::isfinite(value)) {
    throw InputError(place, fmt::format("{} is not finite", what), trim(text),
                     "write a finite decimal number; a crashed simulation may have written this");
  }
  return value;
}

long parse_integer(std::string_view text, std::string_view place, std::string_view what,
                   long minimum, long maximum) {
  const std::string_view digits = trim(text);
  long value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || status != std::errc() || end != digits.data() + digits.size() ||
      value < minimum || value > maximum) {
    const std::string range = maximum == std::numeric_limits<long>::max()
                                  ? fmt::format("of at least {}", minimum)
                                  : fmt::format("from {} to {}", minimum, maximum);
    throw InputError(place, fmt::format("{} is not an integer {}", what, range),
                     digits.empty() ? "nothing" : digits,
                     fmt::format("write an integer {}", range));
  }
  return value;
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  const std::string wanted = lower_case(name);
  std::string nearest;
  std::size_t least = 1 + std::max<std::size_t>(1, wanted.size() / 3);
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(wanted, lower_case(candidate));
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string suggest(std::string_view name, std::span<const std::string> known,
                    std::string_view fallback) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? std::string(fallback)
                         : fmt::format("did you mean '{}'? {}", nearest, fallback);
}

}  // namespace starpmc
