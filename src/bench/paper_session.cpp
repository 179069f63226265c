#include "bench/paper_session.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <ostream>

#include "bench/paper_inputs.hpp"
#include "bench/report.hpp"
#include "error.hpp"
#include "io/checked_file.hpp"
#include "io/json_text.hpp"
#include "seconds_since.hpp"

namespace starpmc {
namespace {

const BenchPreset& preset_of(std::string_view key) {
  const auto presets = bench_presets();
  const auto found = std::ranges::find(presets, key, &BenchPreset::key);
  if (found == presets.end()) throw InputError("bench", "unknown benchmark", key, "A, B, C or R");
  return *found;
}

constexpr double kWorthTelling = 1;  // seconds

}  // namespace

PaperSession::PaperSession(const PaperRequest& request, double planned_seconds,
                           std::filesystem::path folder, std::ostream& out)
    : request_(request),
      folder_(std::move(folder)),
      out_(out),
      planned_seconds_(planned_seconds),
      progress_(Progress::to_standard_error()),
      document_({{"machine", nullptr},
                 {"settings",
                  {{"seconds", request.seconds},
                   {"proposals", request.proposals},
                   {"tables", request.tables},
                   {"cases", request.cases}}},
                 {"systems", nlohmann::ordered_json::object()},
                 {"sections", nlohmann::ordered_json::array()},
                 {"tables", nlohmann::ordered_json::object()}}) {}

bool PaperSession::wants(std::string_view table) const {
  return std::ranges::find(request_.tables, table) != request_.tables.end();
}

bool PaperSession::has_case(std::string_view key) const {
  return std::ranges::find(request_.cases, key) != request_.cases.end();
}

bool PaperSession::has_case(std::string_view key, PaperTable& table) const {
  if (has_case(key)) return true;
  table.notes.push_back(fmt::format("not measured: bench-{} is not among --cases", key));
  return false;
}

const BenchSystem& PaperSession::load(std::string_view key) {
  const std::string name(key);
  if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second.system;
  const BenchPreset& preset = preset_of(key);
  progress(fmt::format("{}, its box and density", preset.name));
  Loaded loaded;
  const bool small = request_.overrides.waters || request_.overrides.points;
  loaded.trouble = small ? "--waters or --points is given" : "";
  std::optional<BenchSystem> system;
  if (!small) {
    try {
      system = load_paper_input(preset);
    } catch (const std::exception& error) {
      loaded.trouble = error.what();
      spdlog::warn("{} with a synthetic density: {}", preset.name, loaded.trouble);
    }
  }
  loaded.system = system ? std::move(*system) : make_bench_system(preset, request_.overrides);
  const BenchSystem& made = loaded_.emplace(name, std::move(loaded)).first->second.system;
  document_["systems"][std::string(preset.name)] = {{"waters", made.system.molecules.size()},
                                                    {"grid_points", made.grid.size()},
                                                    {"paper_grid_points", preset.points},
                                                    {"synthetic_density", made.synthetic_grid},
                                                    {"description", describe(key)}};
  return made;
}

std::string PaperSession::describe(std::string_view key) const {
  const BenchPreset& preset = preset_of(key);
  const Loaded& loaded = loaded_.at(std::string(key));
  std::string text =
      fmt::format("{}: {} waters, {} grid points (the paper: {}), ", preset.name,
                  loaded.system.system.molecules.size(), loaded.system.grid.size(), preset.points);
  if (!loaded.system.synthetic_grid) return text + "density by the QM program";
  return text +
         "synthetic density, because: " + loaded.trouble.substr(0, loaded.trouble.find('\n'));
}

void PaperSession::begin(std::string section, double estimated_seconds) {
  section_ = std::move(section);
  section_seconds_ = estimated_seconds;
  section_start_ = Clock::now();
  progress("");
}

void PaperSession::end() {
  const double seconds = seconds_since(section_start_);
  planned_done_ += section_seconds_;
  document_["sections"].push_back(
      {{"section", section_}, {"estimated_s", section_seconds_}, {"elapsed_s", seconds}});
  write_document();
  if (seconds < kWorthTelling && section_seconds_ == 0) return;  // nothing to do for these cases
  out_ << fmt::format("[{}: {}, estimated {}; {} since the start]\n", section_,
                      format_duration(seconds), format_duration(section_seconds_),
                      format_duration(seconds_since(start_)))
       << std::endl;
}

void PaperSession::progress(const std::string& what) {
  const double within = std::min(seconds_since(section_start_), section_seconds_);
  ProgressState state;
  state.step = static_cast<std::uint64_t>(planned_done_ + within);
  state.total_steps = static_cast<std::uint64_t>(std::ceil(planned_seconds_));
  state.acceptance = std::numeric_limits<double>::quiet_NaN();
  state.phase = what.empty() ? section_ : fmt::format("{}: {}", section_, what);
  state.unit = "";
  progress_.update(state);
}

void PaperSession::publish(PaperTable table) {
  if (!wants(table.key)) return;
  for (std::string& note : table.notes) std::ranges::replace(note, '\n', ' ');  // a line each
  document_["tables"][table.key] = table_json(table);
  write_file_atomically(folder_ / ("paper-" + table.key + ".csv"), table_csv(table));
  write_document();
  out_ << table_text(table) << std::endl;
}

void PaperSession::write_document() const {
  write_file_atomically(folder_ / "paper.json", json_text(document_));
}

void PaperSession::finish() { progress_.finish(); }

void PaperSession::note_machine(const nlohmann::ordered_json& machine) {
  document_["machine"] = machine;
  out_ << machine_text(machine) << std::endl;
}

std::vector<DeviceRow> device_rows(const StarpuRuntime& runtime) {
  std::vector<DeviceRow> rows;
  DeviceRow cores;
  for (const WorkerDescription& worker : runtime.workers()) {
    const auto id = static_cast<std::size_t>(worker.id);
    if (!worker.opencl && runtime.opencl_workers() > 0) {
      cores.workers.push_back(id);
    } else {
      rows.push_back({worker.name, {id}});
    }
  }
  if (cores.workers.empty()) return rows;
  cores.name = counted(cores.workers.size(), "core");
  rows.push_back(std::move(cores));
  return rows;
}

BenchTarget whole_machine(const StarpuRuntime& runtime) {
  if (runtime.opencl_workers() > 0) {
    return {Implementation::any, codelets::kAnyWorker,
            fmt::format("all workers ({}, {})", counted(runtime.cpu_workers(), "core"),
                        counted(runtime.opencl_workers(), "OpenCL device"))};
  }
  return {Implementation::simd, codelets::kAnyWorker, counted(runtime.cpu_workers(), "core")};
}

}  // namespace starpmc
