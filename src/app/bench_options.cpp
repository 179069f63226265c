#include "app/bench_options.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <thread>

#include "bench/paper_inputs.hpp"
#include "bench/paper_published.hpp"
#include "config/value_names.hpp"
#include "error.hpp"

namespace starpmc::bench_options {
namespace {

/// An experiment has systems and terms of its own.
void refuse_others(const Values& values, const Words& known) {
  for (const auto& [name, value] : values) {
    if (value.defaulted() || std::ranges::find(known, name) != known.end()) continue;
    throw InputError("--" + name, "the experiment has systems and terms of its own", "",
                     fmt::format("leave it out; --experiment goes with --{}",
                                 fmt::join(std::span(known).subspan(1), ", --")));
  }
}

/// "3" to "9" mean tables, "f8" to "f11" figures.
Words read_tables(const Values& values) {
  Words names;
  Words keys;
  for (const std::string_view key : published_keys()) {
    const std::string number(key.substr(key.find('-') + 1));
    names.push_back(key.starts_with("figure") ? "f" + number : number);
    keys.emplace_back(key);
  }
  if (!values.contains("tables")) return keys;
  return choose("tables", values["tables"].as<std::string>(), names, keys);
}

Words case_keys() {
  Words keys;
  for (const BenchPreset& preset : paper_presets()) keys.emplace_back(preset.key);
  return keys;
}

}  // namespace

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

std::vector<unsigned> read_numbers(const Values& values, const std::string& option, long most) {
  std::vector<unsigned> numbers;
  for (const std::string& word : split_list(values[option].as<std::string>())) {
    const long number = parse_integer(word, "--" + option, "number of " + option, 1);
    numbers.push_back(static_cast<unsigned>(integer_between(option, number, 1, most)));
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

CellRequest read_cell_request(const Values& values) {
  refuse_others(values, {"experiment", "workers", "seed", "seconds", "output"});
  CellRequest request;
  request.seconds = read_seconds(values["seconds"].as<double>());
  request.seed = static_cast<std::uint64_t>(
      integer_between("seed", values["seed"].as<long>(), 0, std::numeric_limits<long>::max()));
  if (!values.contains("workers")) return request;
  request.workers = read_numbers(values, "workers", std::thread::hardware_concurrency());
  std::ranges::sort(request.workers);
  return request;
}

ChainsRequest read_chains_request(const Values& values) {
  refuse_others(values, {"experiment", "chains", "updates", "output"});
  ChainsRequest request;
  if (values.contains("updates")) {
    request.updates =
        static_cast<unsigned>(integer_between("updates", values["updates"].as<long>(), 1, 1000));
  }
  if (values["chains"].defaulted()) return request;
  request.chains = read_numbers(values, "chains", kMostChains);
  std::ranges::sort(request.chains);
  request.chains.erase(std::unique(request.chains.begin(), request.chains.end()),
                       request.chains.end());
  return request;
}

PaperRequest read_paper_request(const Values& values) {
  refuse_others(values, {"experiment", "tables", "cases", "implementation", "waters", "points",
                         "seconds", "proposals", "chains", "output"});
  PaperRequest request;
  request.tables = read_tables(values);
  if (values.contains("cases")) {
    request.cases = choose("cases", values["cases"].as<std::string>(), case_keys(), case_keys());
  }
  if (values.contains("implementation")) {
    request.implementations = read_implementations(values);
    if (std::ranges::find(request.implementations, Implementation::any) !=
        request.implementations.end()) {
      refuse("implementation", "any", {"scalar", "simd", "opencl"});
    }
  }
  request.opencl_by_name = opencl_by_name(values);
  request.overrides = read_overrides(values);
  if (!values["seconds"].defaulted())
    request.seconds = read_seconds(values["seconds"].as<double>());
  request.proposals = static_cast<std::size_t>(
      integer_between("proposals", values["proposals"].as<long>(), 100, 10'000'000));
  if (!values["chains"].defaulted()) {
    const auto text = values["chains"].as<std::string>();
    request.chains = static_cast<unsigned>(integer_between(
        "chains", parse_integer(text, "--chains", "number of chains", 1), 1, kMostChains));
  }
  return request;
}

Words read_inputs_to_make(const Values& values) {
  for (const auto& [name, value] : values) {
    if (value.defaulted() || name == "make") continue;
    throw InputError("--" + name, "goes not with --make", "", "leave it out");
  }
  const Words keys = case_keys();
  return choose("make", values["make"].as<std::string>(), keys, keys);
}

}  // namespace starpmc::bench_options
