#include "app/bench_options.hpp"

#include <fmt/format.h>

#include <limits>

#include "config/value_names.hpp"
#include "kernels/base/error.hpp"

namespace starpmc::bench_options {
Words split_list(const std::string& text) {
  Words words;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    words.emplace_back(trim(std::string_view(text).substr(start, end - start)));
    start = end + 1;
  }
  return words;
}

void refuse(const std::string& option, const std::string& found, const Words& known) {
  throw InputError(
      "--" + option, "unknown value", found,
      suggest(found, known, "choose from " + fmt::format("{}", fmt::join(known, ", "))));
}

long integer_between(const std::string& option, long value, long least, long most) {
  if (value >= least && value <= most) return value;
  throw InputError("--" + option, "the number is out of range", std::to_string(value),
                   fmt::format("write {} to {}", least, most));
}

std::vector<unsigned> read_numbers(const Values& values, const std::string& option, long most,
                                   long least) {
  std::vector<unsigned> numbers;
  for (const std::string& word : split_list(values[option].as<std::string>())) {
    const long number = parse_integer(word, "--" + option, "number of " + option, least);
    numbers.push_back(static_cast<unsigned>(integer_between(option, number, least, most)));
  }
  return numbers;
}

double read_seconds(double seconds) {
  // Written so that NaN fails as well.
  if (seconds > 0 && seconds <= 3600) return seconds;
  throw InputError("--seconds", "the time is out of range", fmt::format("{}", seconds),
                   "write a number greater than 0, at most 3600");
}

std::vector<Implementation> read_implementations(const Values& values) {
  const std::vector<Implementation> all{Implementation::scalar, Implementation::simd,
                                        Implementation::opencl, Implementation::any};
  if (!values.contains("implementation")) return {all.begin(), all.begin() + 3};
  Words names;
  for (const Implementation implementation : all) names.emplace_back(value_name(implementation));
  return choose("implementation", values["implementation"].as<std::string>(), names, all);
}

bool opencl_by_name(const Values& values) {
  if (!values.contains("implementation")) return false;
  const std::vector<Implementation> all = read_implementations(values);
  return std::ranges::find(all, Implementation::opencl) != all.end();
}

BenchOverrides read_overrides(const Values& values) {
  BenchOverrides overrides;
  const auto number = [&](const char* option, long least, long most) {
    std::optional<std::size_t> value;
    if (values.contains(option)) {
      value =
          static_cast<std::size_t>(integer_between(option, values[option].as<long>(), least, most));
    }
    return value;
  };
  overrides.waters = number("waters", 1, 1'000'000);
  overrides.points = number("points", 1000, 1'000'000'000);
  if (!values.contains("grid")) return overrides;
  if (overrides.points) {
    throw InputError("--points", "a stored grid has its own points",
                     std::to_string(*overrides.points), "give either --grid or --points");
  }
  overrides.grid_file = values["grid"].as<std::string>();
  overrides.grid = read_density_grid(overrides.grid_file);
  return overrides;
}

PoseTimingRequest read_pose_timing(const Values& values) {
  constexpr long kMost = 1'000'000;
  std::vector<unsigned> particles = read_numbers(values, "particles", kMost, 2);
  std::vector<unsigned> evaluations = read_numbers(values, "evaluations", kMost);
  if (pairs_of_poses(std::ranges::min(particles), std::ranges::min(evaluations)) >
      kMostPairsOfPoses) {
    throw InputError(
        "--particles", fmt::format("no task has at most {:g} pairs", kMostPairsOfPoses),
        values["particles"].as<std::string>(), "write fewer, or fewer --evaluations of a task");
  }
  return {std::move(particles), std::move(evaluations),
          static_cast<std::uint64_t>(integer_between("seed", values["seed"].as<long>(), 0,
                                                     std::numeric_limits<long>::max())),
          read_seconds(values["seconds"].as<double>()), values.contains("timeline")};
}

}  // namespace starpmc::bench_options
