#include "runtime/model_files.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

namespace starpmc {
namespace {

// Far beyond what StarPU writes, and small enough for what it makes of them.
constexpr unsigned kMostDeviceKinds = 8;
constexpr unsigned kMostDevices = 64;
constexpr unsigned kMostCores = 100'000;
constexpr unsigned kMostImplementations = 64;
constexpr unsigned kMostCombinations = 1024;
constexpr unsigned kMostCoefficients = 64;
constexpr unsigned kMostProcessors = 1'000'000;

using Words = std::vector<std::string_view>;

/// Thrown and caught in this file.
struct Problem {
  std::string text;
};

/// The lines of a file without comments and empty ones.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {
    if (text.empty()) throw Problem{"it is empty"};
    if (!text.ends_with('\n')) throw Problem{"its last line has no end"};
  }
  bool at_end() {
    skip_comments();
    return rest_.empty();
  }
  /// The words of the next line.
  Words next() {
    if (at_end()) throw Problem{fmt::format("it ends after line {}", number_)};
    return split(take_line());
  }
  [[noreturn]] void fail() const {
    throw Problem{fmt::format("line {} is not what is due there", number_)};
  }

  unsigned number(std::string_view word, unsigned most) const {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value > most) fail();
    return value;
  }
  /// A line with one number.
  unsigned next_number(unsigned least, unsigned most) {
    const Words words = next();
    if (words.size() != 1) fail();
    const unsigned value = number(words[0], most);
    if (value < least) fail();
    return value;
  }
  double real(std::string_view word) const {
    double value = 0;
    if (word == "nan" || word == "-nan") return std::nan("");
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) fail();
    return value;
  }
  double not_negative(std::string_view word) const {
    const double value = real(word);
    if (!(value >= 0)) fail();
    return value;
  }

 private:
  std::string_view take_line() {
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++number_;
    return line;
  }
  void skip_comments() {
    while (rest_.starts_with('#') || rest_.starts_with('\n')) take_line();
  }
  static Words split(std::string_view line) {
    Words words;
    for (;;) {
      const std::size_t start = line.find_first_not_of(" \t");
      if (start == line.npos) return words;
      line.remove_prefix(start);
      const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
      words.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }

  std::string_view rest_;
  int number_ = 0;
};

void check_regressions(Lines& lines) {
  const Words linear = lines.next();
  if (linear.size() != 9) lines.fail();
  for (std::size_t i = 0; i < 6; ++i) lines.real(linear[i]);
  for (std::size_t i = 6; i < 9; ++i) lines.not_negative(linear[i]);
  const Words power_law = lines.next();
  if (power_law.size() != 3) lines.fail();
  for (const std::string_view word : power_law) lines.real(word);
  const Words multiple = lines.next();
  if (multiple.empty() || lines.number(multiple[0], kMostCoefficients) != multiple.size() - 1) {
    lines.fail();
  }
  for (std::size_t i = 1; i < multiple.size(); ++i) lines.real(multiple[i]);
}

/// Footprint, size, flops, mean, deviation, sum, sum of squares, samples.
void check_entry(Lines& lines) {
  const Words words = lines.next();
  if (words.size() != 8 || words[0].size() != 8 ||
      words[0].find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    lines.fail();
  }
  lines.not_negative(words[1]);
  if (const double flops = lines.real(words[2]); flops < 0) lines.fail();
  for (std::size_t i = 3; i < 7; ++i) lines.not_negative(words[i]);
  lines.number(words[7], ~0U);
}

void check_combination(Lines& lines) {
  const unsigned devices = lines.next_number(1, kMostDevices);
  for (unsigned device = 0; device < devices; ++device) {
    lines.next_number(0, kMostDeviceKinds);
    lines.next_number(0, kMostDevices);
    lines.next_number(0, kMostCores);
  }
  const unsigned implementations = lines.next_number(1, kMostImplementations);
  for (unsigned implementation = 0; implementation < implementations; ++implementation) {
    const unsigned entries = lines.next_number(0, ~0U);
    check_regressions(lines);
    for (unsigned entry = 0; entry < entries; ++entry) check_entry(lines);
  }
}

template <class Check>
std::string problem_found(const Check& check) {
  try {
    check();
    return {};
  } catch (const Problem& problem) {
    return problem.text;
  }
}

/// Processors, then memory nodes by kind: NUMA nodes, CUDA, OpenCL and other devices.
std::vector<unsigned> counts_in(std::string_view config) {
  Lines lines(config);
  std::vector<unsigned> counts;
  while (!lines.at_end()) {
    const Words words = lines.next();
    if (words.size() > 1 && !words[1].starts_with('#')) lines.fail();
    if (words.empty()) lines.fail();
    counts.push_back(lines.number(words[0], counts.empty() ? kMostProcessors : kMostDevices));
  }
  if (counts.size() < 2 || counts[0] == 0 || counts[1] == 0) {
    throw Problem{"it tells no processors or no memory"};
  }
  return counts;
}

}  // namespace

std::string problem_of_model(std::string_view text, int version) {
  return problem_found([&] {
    Lines lines(text);
    if (lines.next_number(0, ~0U) != static_cast<unsigned>(version)) lines.fail();
    const unsigned combinations = lines.next_number(0, kMostCombinations);
    for (unsigned i = 0; i < combinations; ++i) check_combination(lines);
    if (!lines.at_end()) throw Problem{"it goes on after its end"};
  });
}

std::string problem_of_bus_config(std::string_view text) {
  return problem_found([&] { counts_in(text); });
}

std::string problem_of_bus_matrix(std::string_view text) {
  return problem_found([&] {
    Lines lines(text);
    std::size_t columns = 0;
    std::size_t rows = 0;
    for (; !lines.at_end(); ++rows) {
      const Words words = lines.next();
      if (columns == 0) columns = words.size();
      if (words.empty() || words.size() != columns) lines.fail();
      for (const std::string_view word : words) {
        if (const double value = lines.real(word); value < 0) lines.fail();
      }
    }
    if (rows != columns) throw Problem{fmt::format("it has {} rows of {}", rows, columns)};
  });
}

std::string problem_of_bus_affinity(std::string_view text, std::string_view config) {
  return problem_found([&] {
    if (!text.starts_with("# GPU\tNUMA")) throw Problem{"its first line is not what is due there"};
    Lines lines(text);
    if (config.empty()) return;
    const std::vector<unsigned> counts = counts_in(config);
    const unsigned memories = counts[1];
    for (std::size_t kind = 2; kind < counts.size(); ++kind) {
      for (unsigned device = 0; device < counts[kind]; ++device) {
        const Words words = lines.next();
        if (words.size() != 1 + memories || lines.number(words[0], kMostDevices) != device) {
          lines.fail();
        }
        for (std::size_t i = 1; i < words.size(); ++i) lines.number(words[i], memories - 1);
      }
    }
    if (!lines.at_end()) throw Problem{"it goes on after its end"};
  });
}

}  // namespace starpmc
