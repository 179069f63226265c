#include "bench/report.hpp"

#include <CL/cl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <starpu.h>
#include <starpu_opencl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/checked_file.hpp"
#include "bench/contestant.hpp"
#include "io/json_text.hpp"
#include "kernels/opencl/host/handles.hpp"
#include "kernels/operations.hpp"

namespace starpmc {
namespace {

/// How a quantity is shown in a table; those not named here are in the files only.
struct Column {
  std::string_view quantity;
  std::string_view heading;
  std::string_view unit;
  double scale;
};
constexpr std::array kColumns = std::to_array<Column>({
    {"multiply_adds_per_second", "multiply-adds", "G/s", 1e-9},
    {"reciprocal_roots_per_second", "1/sqrt", "G/s", 1e-9},
    {"register_pairs_per_second", "register pairs", "Gpairs/s", 1e-9},
    {"ceiling_pairs_per_second", "ceiling", "Gpairs/s", 1e-9},
    {"chains", "chains", "", 1},
    {"response_components", "response", "components", 1},
    {"steps_per_task", "steps", "a task", 1},
    {"microseconds_per_task", "task", "us", 1},
    {"kernel_microseconds_per_task", "kernel", "us", 1},
    {"microseconds_per_step", "step", "us", 1},
    {"pairs_per_second", "rate", "Gpairs/s", 1e-9},
    {"share_within_reach", "in reach", "%", 100},
    {"share_of_ceiling", "of ceiling", "%", 100},
    {"writing_microseconds_per_step", "writing", "us", 1},
    {"steps_so_far", "so far", "steps", 1},
    {"steps_per_second", "rate", "steps/s", 1},
    {"steps_per_window", "window", "steps", 1},
    {"grid_share_of_kernels", "grid", "%", 100},
    {"mm_share_of_kernels", "MM", "%", 100},
    {"overhead_microseconds_per_window", "overhead", "us/window", 1},
    {"acceptance", "accepted", "%", 100},
    {"certified_share", "certified", "%", 100},
    {"steps", "made", "steps", 1},
    {"chain_memory_mb", "a chain", "MB", 1},
    {"peak_memory_mb", "process", "MB", 1},
    {"proposals", "proposals", "", 1},
    {"grid_mean_error_kj_per_mol", "grid mean", "kJ/mol", 1},
    {"grid_max_error_kj_per_mol", "grid max", "kJ/mol", 1},
    {"total_mean_error_kj_per_mol", "total mean", "kJ/mol", 1},
    {"total_max_error_kj_per_mol", "total max", "kJ/mol", 1},
    {"particles", "particles", "", 1},
    {"evaluations_per_task", "poses", "a task", 1},
    {"microseconds_per_evaluation", "pose", "us", 1},
    {"taskless_microseconds_per_evaluation", "taskless", "us", 1},
    {"newton_steps", "Newton", "steps", 1},
    {"rms_relative_error", "rms error", "", 1},
    {"largest_error_of_pairs", "largest", "of pairs", 1},
    {"nanoseconds_per_pair", "pair", "ns", 1},
    {"time_over_built_in", "step", "/ built-in", 1},
    {"kernel_time_over_built_in", "kernel", "/ built-in", 1},
    {"energy_difference_from_built_in", "energies", "differ by", 1},
});

/// StarPU's "OpenCL 0 (a long name)" is "OpenCL 0" here; the list of workers has it all.
std::vector<std::string> key_cells(const BenchCase& entry, bool with_functions) {
  std::vector<std::string> cells{entry.term, entry.implementation, entry.precision,
                                 entry.device.substr(0, entry.device.find(" ("))};
  if (with_functions) cells.push_back(entry.functions);
  return cells;
}

/// Functions are told where there are others than the built-in ones.
bool tell_functions(std::span<const BenchCase> cases) {
  return std::ranges::any_of(cases, [](const BenchCase& entry) {
    return entry.functions == functions_name(Functions::expressions);
  });
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

/// What tells OpenCL devices from one another, and from what other interfaces call them.
nlohmann::ordered_json describe_devices(const StarpuRuntime& runtime) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const WorkerDescription& worker : runtime.workers()) {
    if (!worker.opencl) continue;
    cl_device_id id = nullptr;
    starpu_opencl_get_device(starpu_worker_get_devid(worker.id), &id);
    cl_device_type type = 0;
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
    devices.push_back({{"worker", worker.name},
                       {"is_cpu", (type & CL_DEVICE_TYPE_CPU) != 0},
                       {"uuid", opencl::device_uuid(id)}});
  }
  return devices;
}

std::string now_in_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// Four significant digits or so, without an exponent where that is readable.
std::string readable(double value) {
  const double size = std::abs(value);
  if (value == std::floor(value) && size < 1e9) return fmt::format("{:.0f}", value);
  if (size >= 1e9 || size < 1e-3) return fmt::format("{:.2e}", value);
  const int digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  return fmt::format("{:.{}f}", value, digits);
}

/// Cells in columns of equal width: the first `left` of them flush left, the others flush right.
std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t left) {
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool text_cell = i < left;
      row.append("  ").append(text_cell ? fmt::format("{:<{}}", line[i], widths[i])
                                        : fmt::format("{:>{}}", line[i], widths[i]));
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text.append(row).append("\n");
  }
  return text;
}

/// In quotes where it must be.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted.push_back('"');
  return quoted;
}

}  // namespace

std::string case_table(const std::string& title, std::span<const BenchCase> cases) {
  if (cases.empty()) return "";
  std::vector<const Column*> columns;
  for (const Column& column : kColumns) {
    if (std::ranges::any_of(cases, [&](const BenchCase& entry) {
          return entry.figure(column.quantity) != nullptr;
        })) {
      columns.push_back(&column);
    }
  }
  std::vector<std::string> headings{"", "implementation", "precision", "device"};
  const bool with_functions = tell_functions(cases);
  if (with_functions) headings.emplace_back("functions");
  const std::size_t keys = headings.size();
  std::vector<std::string> units(keys);
  for (const Column* column : columns) {
    headings.emplace_back(column->heading);
    units.emplace_back(column->unit);
  }
  std::vector<std::vector<std::string>> lines{headings, units};
  for (const BenchCase& entry : cases) {
    lines.push_back(key_cells(entry, with_functions));
    for (const Column* column : columns) {
      const Figure* const figure = entry.figure(column->quantity);
      lines.back().push_back(figure == nullptr ? "" : readable(figure->value * column->scale));
    }
  }
  return fmt::format("{}\n{}", title, aligned(lines, keys));
}

std::string cases_csv(std::span<const BenchCase> cases) {
  std::vector<std::string> quantities;
  for (const BenchCase& entry : cases) {
    for (const Figure& figure : entry.figures) {
      if (std::ranges::find(quantities, figure.quantity) == quantities.end()) {
        quantities.push_back(figure.quantity);
      }
    }
  }
  std::string text = "system,term,implementation,precision,device,functions";
  for (const std::string& quantity : quantities) text.append(",").append(quantity);
  text += '\n';
  for (const BenchCase& entry : cases) {
    text +=
        fmt::format("{},{},{},{},{},{}", csv_cell(entry.system), csv_cell(entry.term),
                    entry.implementation, entry.precision, csv_cell(entry.device), entry.functions);
    for (const std::string& quantity : quantities) {
      const Figure* const figure = entry.figure(quantity);
      text.append(",").append(figure == nullptr ? "" : fmt::format("{}", figure->value));
    }
    text += '\n';
  }
  return text;
}

nlohmann::ordered_json describe_machine(const StarpuRuntime& runtime) {
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  nlohmann::ordered_json workers = nlohmann::ordered_json::array();
  for (const WorkerDescription& worker : runtime.workers()) workers.push_back(worker.name);
  return {{"host", host},
          {"cpu", cpu_model()},
          {"instruction_set", simd::instruction_set()},
          {"workers", workers},
          {"opencl_devices", describe_devices(runtime)},
          {"scheduler", runtime.scheduler()},
          {"starpu_version", starpu_version()},
          {"starpmc_version", STARPMC_VERSION},
          {"date", now_in_utc()}};
}

std::string machine_text(const nlohmann::ordered_json& machine) {
  std::string text = fmt::format(
      "starpmc {}, StarPU {} ({}), {}\n{}, {}\nworkers:",
      machine["starpmc_version"].get<std::string>(), machine["starpu_version"].get<std::string>(),
      machine["scheduler"].get<std::string>(), machine["date"].get<std::string>(),
      machine["cpu"].get<std::string>(), machine["instruction_set"].get<std::string>());
  for (const auto& worker : machine["workers"]) {
    text.append(" ").append(worker.get<std::string>()).append(",");
  }
  text.back() = '\n';
  return text;
}

void write_cases(const std::filesystem::path& folder, const nlohmann::ordered_json& machine,
                 const nlohmann::ordered_json& settings, std::span<const BenchCase> cases) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const BenchCase& entry : cases) {
    nlohmann::ordered_json result = {{"system", entry.system},
                                     {"term", entry.term},
                                     {"implementation", entry.implementation},
                                     {"precision", entry.precision},
                                     {"device", entry.device},
                                     {"functions", entry.functions}};
    for (const Figure& figure : entry.figures) result[figure.quantity] = figure.value;
    for (const KernelTime& kernel : entry.kernels) {
      result["kernels"].push_back({{"operation", kernel.operation},
                                   {"worker", kernel.worker},
                                   {"tasks", kernel.tasks},
                                   {"microseconds_per_step", kernel.microseconds_per_step}});
    }
    for (const TaskSpan& task : entry.tasks) {
      result["tasks"].push_back({{"worker", task.worker},
                                 {"submitted_ms", task.submitted_ms},
                                 {"started_ms", task.started_ms},
                                 {"ended_ms", task.ended_ms}});
    }
    results.push_back(std::move(result));
  }
  const nlohmann::ordered_json document = {
      {"machine", machine}, {"settings", settings}, {"results", results}};
  write_file_atomically(folder / "bench.json", json_text(document));
  write_file_atomically(folder / "bench.csv", cases_csv(cases));
}

}  // namespace starpmc
