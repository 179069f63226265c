#include "app/subcommands.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "app/bench_options.hpp"
#include "app/subcommand_options.hpp"
#include "bench/report.hpp"
#include "config/value_names.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;
namespace options = boost::program_options;
using namespace bench_options;

void print_bench_help(const options::options_description& described, std::ostream& out) {
  out << "Usage: starpmc bench [options]\n\n"
         "Times every operation and whole steps, of every implementation, precision and device, "
         "in\n"
         "one process. Pairs are those of the new positions' charged sites and all grid points.\n\n"
      << described
      << "\nExamples: starpmc bench --system quick --seconds 0.2\n"
         "          starpmc bench --system A,R --term grid,steps --chains 1,4\n"
         "Tables of published measurements beside this machine's: tests/evaluation.\n";
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
  const std::vector<Flag> flags{&BenchRequest::grid,  &BenchRequest::mm,     &BenchRequest::other,
                                &BenchRequest::steps, &BenchRequest::errors, &BenchRequest::poses,
                                &BenchRequest::roots};
  constexpr std::size_t kOfAll = 4;
  const Words names{"grid", "mm", "other", "steps", "errors", "poses", "roots", "all"};
  std::vector<std::size_t> numbers(names.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const std::size_t index : choose("term", text, names, numbers)) {
    const bool all = index == flags.size();
    for (std::size_t flag = 0; flag < flags.size(); ++flag) {
      if (flag == index || (all && flag < kOfAll)) request.*flags[flag] = true;
    }
  }
}

std::optional<WorkerChoice> read_workers(const options::variables_map& values) {
  if (!values.contains("workers")) return {};
  return choose("workers", values["workers"].as<std::string>(), {"one", "all", "both"},
                std::vector{WorkerChoice::one, WorkerChoice::all, WorkerChoice::both})
      .front();
}

std::vector<Precision> read_precisions(const options::variables_map& values) {
  std::vector<Precision> all(std::begin(kPrecisions), std::end(kPrecisions));
  if (!values.contains("precision")) return all;
  Words names;
  for (const Precision precision : all) names.emplace_back(value_name(precision));
  return choose("precision", values["precision"].as<std::string>(), names, all);
}

std::vector<Functions> read_functions(const std::string& text) {
  const std::vector<Functions> all{Functions::built_in, Functions::expressions};
  Words names;
  for (const Functions functions : all) names.emplace_back(functions_name(functions));
  std::vector<Functions> chosen = choose("functions", text, names, all);
  std::ranges::sort(chosen);
  return chosen;
}

BenchRequest read_request(const options::variables_map& values) {
  BenchRequest request;
  request.systems = read_systems(values["system"].as<std::string>());
  read_terms(values["term"].as<std::string>(), request);
  request.overrides = read_overrides(values);
  request.implementations = read_implementations(values);
  request.precisions = read_precisions(values);
  request.functions = read_functions(values["functions"].as<std::string>());
  request.window =
      static_cast<std::uint32_t>(integer_between("window", values["window"].as<long>(), 0, 1000));
  request.workers = read_workers(values);
  request.interval_steps = static_cast<std::uint64_t>(
      integer_between("intervals", values["intervals"].as<long>(), 0, 100'000'000));
  request.chains = read_numbers(values, "chains", kMostChains);
  request.write = values.contains("write");
  if (values.contains("components")) {
    request.components = read_numbers(values, "components", kMostComponents, 0);
  }
  request.pose_timing = read_pose_timing(values);
  request.certified = !values.contains("uncertified");
  request.seconds = read_seconds(values["seconds"].as<double>());
  request.proposals = static_cast<std::size_t>(
      integer_between("proposals", values["proposals"].as<long>(), 100, 10'000'000));
  return request;
}

/// The folder of bench.csv and bench.json. One that was made for a benchmark that fails before its
/// first result is removed.
class BenchFolder {
 public:
  explicit BenchFolder(fs::path path) : path_(std::move(path)) {
    for (const char* name : {"bench.csv", "bench.json"}) {
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

/// What the scripts of tests/evaluation do now.
void refuse_what_is_a_script(std::span<const std::string> arguments) {
  constexpr std::array<std::array<std::string_view, 2>, 4> kScripts{
      {{"--experiment", "paper.py, cell.py and chains.py"},
       {"--against", "against_paper.py, which adds the figures to bench.json of an earlier run"},
       {"--make", "inputs.py"},
       {"--tables", "paper.py"}}};
  for (const std::string& argument : arguments) {
    for (const auto& [option, script] : kScripts) {
      if (argument.substr(0, argument.find('=')) != option) continue;
      throw InputError(argument, "the experiments are scripts", "",
                       fmt::format("run those of tests/evaluation (share/starpmc/evaluation where "
                                   "the program is installed): {}",
                                   script));
    }
  }
}

}  // namespace

boost::program_options::options_description bench_command_options() {
  options::options_description described("Options (lists: separated by commas)", 100);
  auto add = described.add_options();
  add("system", options::value<std::string>()->default_value("A"),
      "boxes of the paper: A (1301 waters, 1 arginine), B (5000, 1), C (5000, 2), R (500, "
      "chorismate); quick: a small one; tip3p: pure water as of R; spce: pure SPC/E water, cutoff "
      "10 A");
  add("term", options::value<std::string>()->default_value("all"),
      "what is timed: grid, mm, other (operations), steps (whole steps), all of these; not part of "
      "all are errors (energy changes against fp64), poses (the kernel of score) and roots (the "
      "accuracy of its 1/sqrt)");
  add("implementation", options::value<std::string>(),
      "scalar, simd, opencl; any: whole steps with StarPU's choice. Default: scalar,simd and the "
      "GPUs there are; opencl includes PoCL's CPU device where there is no GPU");
  add("precision", options::value<std::string>(), "precisions; all by default");
  add("functions", options::value<std::string>()->default_value("built-in"),
      "pair functions: built-in, expressions (the same written as expressions of [potential]); "
      "both in turn tell the ratio of their times");
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
  add("workers", options::value<std::string>(),
      "one: each case on one worker; all: on all that have the implementation; both. Default: one "
      "for operations and poses, both for whole steps, all for errors");
  add("write", "whole steps write an energy every 100 steps and a frame every 1,000");
  add("components", options::value<std::string>(),
      "whole steps of the exact ensemble: with a synthetic reference for the density, and so many "
      "components of its response; each number is a case");
  add("intervals", options::value<long>()->default_value(0),
      "instead of --seconds: the first steps of a chain, in ten cases of so many steps each, "
      "without "
      "warm-up and with a task per term: how StarPU's models settle");
  add("particles", options::value<std::string>()->default_value("128"),
      "of --term poses, half of them in the receptor; each number is a case");
  add("evaluations", options::value<std::string>()->default_value("512"),
      "of --term poses: poses of a task; each number is a case");
  add("seed", options::value<long>()->default_value(1), "of the random charges of poses and roots");
  add("timeline", "of --term poses: bench.json tells when the tasks of a short run ran");
  add("output", options::value<std::string>(),
      "folder for bench.csv and bench.json; bench-DATE-TIME by default");
  add("help", "show this text");
  return described;
}

int run_bench(std::span<const std::string> arguments, std::ostream& out) {
  refuse_what_is_a_script(arguments);
  const options::options_description described = bench_command_options();
  const options::variables_map values = parse_subcommand("starpmc bench", described, arguments);
  if (values.contains("help")) {
    print_bench_help(described, out);
    return 0;
  }
  const BenchRequest request = read_request(values);
  const BenchFolder folder(folder_name(values));
  // Errors are measured against fp64, whatever precisions are asked for.
  std::vector<Precision> built = request.precisions;
  if (std::ranges::find(built, Precision::fp64) == built.end()) built.push_back(Precision::fp64);
  const StarpuRuntime runtime(
      built, opencl_by_name(values) ? Implementation::opencl : Implementation::any);
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
