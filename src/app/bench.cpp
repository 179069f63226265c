#include "app/bench.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "app/subcommand_options.hpp"
#include "bench/benchmark.hpp"
#include "bench/cell_experiment.hpp"
#include "bench/precision_list.hpp"
#include "bench/report.hpp"
#include "config/value_names.hpp"
#include "error.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;
namespace options = boost::program_options;
using Words = std::vector<std::string>;

options::options_description describe_options() {
  options::options_description described("Options (lists: separated by commas)", 100);
  auto add = described.add_options();
  add("system", options::value<std::string>()->default_value("A"),
      "boxes of the paper: A (1301 waters, 1 arginine), B (5000, 1), C (5000, 2), R (500, "
      "chorismate); quick: a small one; spce: pure SPC/E water, cutoff 10 A");
  add("term", options::value<std::string>()->default_value("all"),
      "what is timed: grid, mm, other (operations), steps (whole steps), all of these; errors: "
      "energy changes against fp64, which is asked for by name");
  add("implementation", options::value<std::string>(),
      "scalar, simd, opencl; any: whole steps with StarPU's choice. Default: scalar,simd and the "
      "GPUs there are; opencl includes PoCL's CPU device where there is no GPU");
  add("precision", options::value<std::string>(), "precisions; all by default");
  add("grid", options::value<std::string>(),
      "density grid of a run (output.save-grid) instead of a synthetic one");
  add("points", options::value<long>(), "points of the synthetic grid; the paper's by default");
  add("waters", options::value<long>(), "water molecules; the paper's by default (spce: 500)");
  add("window", options::value<long>()->default_value(0),
      "steps evaluated together; 0: chosen by the program");
  add("chains", options::value<std::string>()->default_value("1"),
      "chains at once, for whole steps; each number is a case");
  add("uncertified", "whole steps without certified decisions (sampling.certified)");
  add("seconds", options::value<double>()->default_value(1), "time of a case, s");
  add("proposals", options::value<long>()->default_value(10'000), "proposals of --term errors");
  add("against", options::value<std::string>(), "paper: its figures beside these");
  add("experiment", options::value<std::string>(),
      "cell: instead of all this, the three figures of Perez-Sanchez and Wenzel's paper on the "
      "Cell "
      "processor on this machine; with --seconds, --output and the next two options");
  add("workers", options::value<std::string>(),
      "numbers of CPU workers of the experiment; 1, 2, 4, ... all by default");
  add("seed", options::value<long>()->default_value(1), "of the experiment's random charges");
  add("output", options::value<std::string>(),
      "folder for bench.csv and bench.json; bench-DATE-TIME by default");
  add("help", "show this text");
  return described;
}

void print_help(const options::options_description& described, std::ostream& out) {
  out << "Usage: starpmc bench [options]\n\n"
         "Times every operation and whole steps, of every implementation, precision and device, "
         "in\n"
         "one process. Pairs are those of the new positions' charged sites and all grid points.\n\n"
      << described
      << "\nExamples: starpmc bench --system quick --seconds 0.2\n"
         "          starpmc bench --system A,R --term grid,steps --chains 1,4 --against paper\n";
}

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

[[noreturn]] void refuse(const std::string& option, const std::string& found, const Words& known) {
  throw InputError(
      "--" + option, "unknown value", found,
      suggest(found, known, "choose from " + fmt::format("{}", fmt::join(known, ", "))));
}

/// The values of a list by their names, each once.
template <class Value>
std::vector<Value> choose(const std::string& option, const std::string& text, const Words& names,
                          const std::vector<Value>& values) {
  std::vector<Value> chosen;
  for (const std::string& word : split_list(text)) {
    const auto found = std::ranges::find_if(
        names, [&](const std::string& name) { return equal_ignoring_case(name, word); });
    if (found == names.end()) refuse(option, word, names);
    const Value value = values[static_cast<std::size_t>(found - names.begin())];
    if (std::ranges::find(chosen, value) == chosen.end()) chosen.push_back(value);
  }
  return chosen;
}

long integer_between(const std::string& option, long value, long least, long most) {
  if (value >= least && value <= most) return value;
  throw InputError("--" + option, "the number is out of range", std::to_string(value),
                   fmt::format("write {} to {}", least, most));
}

std::vector<BenchPreset> read_systems(const std::string& text) {
  Words names;
  std::vector<std::size_t> indices;
  for (const BenchPreset& preset : bench_presets()) {
    names.emplace_back(preset.key);
    indices.push_back(indices.size());
  }
  std::vector<BenchPreset> systems;
  for (const std::size_t index : choose("system", text, names, indices)) {
    systems.push_back(bench_presets()[index]);
  }
  return systems;
}

void read_terms(const std::string& text, BenchRequest& request) {
  using Flag = bool BenchRequest::*;
  const std::vector<Flag> flags{&BenchRequest::grid, &BenchRequest::mm, &BenchRequest::other,
                                &BenchRequest::steps, &BenchRequest::errors};
  const Words names{"grid", "mm", "other", "steps", "errors", "all"};
  for (const std::size_t index :
       choose("term", text, names, std::vector<std::size_t>{0, 1, 2, 3, 4, 5})) {
    const bool all = index == flags.size();
    for (std::size_t flag = 0; flag < flags.size(); ++flag) {
      const bool is_errors = flags[flag] == &BenchRequest::errors;
      if (flag == index || (all && !is_errors)) request.*flags[flag] = true;
    }
  }
}

std::vector<Implementation> read_implementations(const options::variables_map& values) {
  const std::vector<Implementation> all{Implementation::scalar, Implementation::simd,
                                        Implementation::opencl, Implementation::any};
  if (!values.contains("implementation")) return {all.begin(), all.begin() + 3};
  Words names;
  for (const Implementation implementation : all) names.emplace_back(value_name(implementation));
  return choose("implementation", values["implementation"].as<std::string>(), names, all);
}

std::vector<Precision> read_precisions(const options::variables_map& values) {
  std::vector<Precision> all(kBenchPrecisions.begin(), kBenchPrecisions.end());
  if (!values.contains("precision")) return all;
  Words names;
  for (const Precision precision : all) names.emplace_back(value_name(precision));
  return choose("precision", values["precision"].as<std::string>(), names, all);
}

std::vector<unsigned> read_chains(const std::string& text) {
  std::vector<unsigned> chains;
  for (const std::string& word : split_list(text)) {
    chains.push_back(static_cast<unsigned>(integer_between(
        "chains", parse_integer(word, "--chains", "number of chains", 1), 1, 1024)));
  }
  return chains;
}

double read_seconds(double seconds) {
  // Written so that NaN fails as well.
  if (seconds > 0 && seconds <= 3600) return seconds;
  throw InputError("--seconds", "the time is out of range", fmt::format("{}", seconds),
                   "write a number greater than 0, at most 3600");
}

BenchOverrides read_overrides(const options::variables_map& values) {
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

BenchRequest read_request(const options::variables_map& values) {
  BenchRequest request;
  request.systems = read_systems(values["system"].as<std::string>());
  read_terms(values["term"].as<std::string>(), request);
  request.overrides = read_overrides(values);
  request.implementations = read_implementations(values);
  request.precisions = read_precisions(values);
  request.window =
      static_cast<std::uint32_t>(integer_between("window", values["window"].as<long>(), 0, 1000));
  request.chains = read_chains(values["chains"].as<std::string>());
  request.certified = !values.contains("uncertified");
  request.seconds = read_seconds(values["seconds"].as<double>());
  request.proposals = static_cast<std::size_t>(
      integer_between("proposals", values["proposals"].as<long>(), 100, 10'000'000));
  if (values.contains("against")) {
    const auto against = values["against"].as<std::string>();
    if (against != "paper") refuse("against", against, {"paper"});
    request.against_paper = true;
  }
  return request;
}

CellRequest read_cell_request(const options::variables_map& values) {
  const auto experiment = values["experiment"].as<std::string>();
  if (experiment != "cell") refuse("experiment", experiment, {"cell"});
  const Words known{"experiment", "workers", "seed", "seconds", "output"};
  for (const auto& [name, value] : values) {
    if (value.defaulted() || std::ranges::find(known, name) != known.end()) continue;
    throw InputError("--" + name, "the experiment has systems and terms of its own", "",
                     fmt::format("leave it out; --experiment goes with --{}",
                                 fmt::join(std::span(known).subspan(1), ", --")));
  }
  CellRequest request;
  request.seconds = read_seconds(values["seconds"].as<double>());
  request.seed = static_cast<std::uint64_t>(
      integer_between("seed", values["seed"].as<long>(), 0, std::numeric_limits<long>::max()));
  if (!values.contains("workers")) return request;
  for (const std::string& word : split_list(values["workers"].as<std::string>())) {
    const long most = std::thread::hardware_concurrency();
    request.workers.push_back(static_cast<unsigned>(integer_between(
        "workers", parse_integer(word, "--workers", "number of workers", 1), 1, most)));
  }
  std::ranges::sort(request.workers);
  return request;
}

/// The folder of bench.csv and bench.json. One that was made for a benchmark that fails before its
/// first result is removed.
class BenchFolder {
 public:
  explicit BenchFolder(fs::path path) : path_(std::move(path)) {
    for (const char* name : {"bench.csv", "bench.json", "cell.json"}) {
      if (!fs::exists(path_ / name)) continue;
      throw InputError("--output", "the folder holds an earlier benchmark", (path_ / name).string(),
                       "choose another folder");
    }
    std::error_code error;
    made_ = fs::create_directories(path_, error);
    if (error || !fs::is_directory(path_)) {
      throw InputError("--output", "cannot make the folder",
                       path_.string() + (error ? ": " + error.message() : ""),
                       "choose another folder");
    }
  }
  ~BenchFolder() {
    std::error_code ignored;
    if (made_) fs::remove(path_, ignored);  // refuses where there is something inside
  }
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool made_ = false;
};

fs::path folder_name(const options::variables_map& values) {
  if (values.contains("output")) return values["output"].as<std::string>();
  return fmt::format("bench-{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

nlohmann::ordered_json settings_as_json(const options::variables_map& values) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : values) {
    if (const auto* text = boost::any_cast<std::string>(&value.value())) json[name] = *text;
    if (const auto* number = boost::any_cast<long>(&value.value())) json[name] = *number;
    if (const auto* real = boost::any_cast<double>(&value.value())) json[name] = *real;
  }
  return json;
}

/// PoCL's CPU device takes a core from StarPU: it joins where OpenCL is asked for by name.
Implementation runtime_implementation(const options::variables_map& values,
                                      const BenchRequest& request) {
  const bool opencl_asked = values.contains("implementation") &&
                            std::ranges::find(request.implementations, Implementation::opencl) !=
                                request.implementations.end();
  return opencl_asked ? Implementation::opencl : Implementation::any;
}

}  // namespace

int run_bench(std::span<const std::string> arguments, std::ostream& out) {
  const options::options_description described = describe_options();
  const options::variables_map values = parse_subcommand("starpmc bench", described, arguments);
  if (values.contains("help")) {
    print_help(described, out);
    return 0;
  }
  if (values.contains("experiment")) {
    const CellRequest request = read_cell_request(values);
    const BenchFolder folder(folder_name(values));
    run_cell_experiment(request, folder.path(), out);
    out << "written: " << (folder.path() / "cell-*").string() << '\n';
    return 0;
  }
  if (values.contains("workers")) {
    throw InputError("--workers", "goes with --experiment only", "",
                     "add --experiment cell, or leave it out");
  }
  const BenchRequest request = read_request(values);
  const BenchFolder folder(folder_name(values));
  // Errors are measured against fp64, whatever precisions are asked for.
  std::vector<Precision> built = request.precisions;
  if (std::ranges::find(built, Precision::fp64) == built.end()) built.push_back(Precision::fp64);
  const StarpuRuntime runtime(built, runtime_implementation(values, request));
  for (const std::string& warning : runtime.warnings()) spdlog::warn(warning);
  const nlohmann::ordered_json machine = describe_machine(runtime);
  const nlohmann::ordered_json settings = settings_as_json(values);
  out << machine_text(machine) << std::endl;
  std::vector<BenchCase> all;
  const auto listener = [&](const std::string& title, const std::vector<BenchCase>& cases) {
    all.insert(all.end(), cases.begin(), cases.end());
    out << case_table(title, cases) << std::endl;
    write_cases(folder.path(), machine, settings, all);  // what is finished is not lost
  };
  run_benchmark(request, runtime, listener);
  out << "written: " << (folder.path() / "bench.csv").string() << ", "
      << (folder.path() / "bench.json").string() << '\n';
  return 0;
}

}  // namespace starpmc
