#include "bench/paper_session.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <ostream>

#include "bench/paper_inputs.hpp"
#include "bench/report.hpp"
#include "error.hpp"
#include "io/checked_file.hpp"

namespace starpmc {
namespace {

const BenchPreset& preset_of(std::string_view key) {
  const auto presets = bench_presets();
  const auto found = std::ranges::find(presets, key, &BenchPreset::key);
  if (found == presets.end()) throw InputError("bench", "unknown benchmark", key, "A, B, C or R");
  return *found;
}

}  // namespace

PaperSession::PaperSession(const PaperRequest& request, std::filesystem::path folder,
                           std::ostream& out)
    : request_(request),
      folder_(std::move(folder)),
      out_(out),
      progress_(Progress::to_standard_error()),
      document_({{"machine", nullptr},
                 {"settings",
                  {{"seconds", request.seconds},
                   {"proposals", request.proposals},
                   {"tables", request.tables},
                   {"cases", request.cases}}},
                 {"systems", nlohmann::ordered_json::object()},
                 {"tables", nlohmann::ordered_json::object()}}) {}

bool PaperSession::wants(std::string_view table) const {
  return std::ranges::find(request_.tables, table) != request_.tables.end();
}

bool PaperSession::has_case(std::string_view key, PaperTable& table) const {
  if (std::ranges::find(request_.cases, key) != request_.cases.end()) return true;
  table.notes.push_back(fmt::format("not measured: bench-{} is not among --cases", key));
  return false;
}

const BenchSystem& PaperSession::load(std::string_view key) {
  if (loaded_ == key) return *system_;
  const BenchPreset& preset = preset_of(key);
  system_.reset();
  loaded_.clear();
  progress(fmt::format("{}, its box and density", preset.name));
  const bool small = request_.overrides.waters || request_.overrides.points;
  trouble_ = small ? "--waters or --points is given" : "";
  if (!small) {
    try {
      system_ = load_paper_input(preset);
    } catch (const std::exception& error) {
      trouble_ = error.what();
      spdlog::warn("{} with a synthetic density: {}", preset.name, trouble_);
    }
  }
  if (!system_) system_ = make_bench_system(preset, request_.overrides);
  loaded_ = key;
  document_["systems"][std::string(preset.name)] = {{"waters", system_->system.molecules.size()},
                                                    {"grid_points", system_->grid.size()},
                                                    {"paper_grid_points", preset.points},
                                                    {"synthetic_density", system_->synthetic_grid},
                                                    {"description", describe(key)}};
  return *system_;
}

std::string PaperSession::describe(std::string_view key) const {
  const BenchPreset& preset = preset_of(key);
  std::string text =
      fmt::format("{}: {} waters, {} grid points (the paper: {}), ", preset.name,
                  system_->system.molecules.size(), system_->grid.size(), preset.points);
  if (!system_->synthetic_grid) return text + "density by the QM program";
  return text + "synthetic density, because: " + trouble_.substr(0, trouble_.find('\n'));
}

void PaperSession::progress(const std::string& what) {
  ProgressState state;
  state.step = published_;
  state.total_steps = request_.tables.size();
  state.acceptance = std::numeric_limits<double>::quiet_NaN();
  state.phase = what;
  state.unit = "table";
  progress_.update(state);
}

void PaperSession::publish(PaperTable table) {
  ++published_;
  if (!wants(table.key)) return;
  for (std::string& note : table.notes) std::ranges::replace(note, '\n', ' ');  // a line each
  document_["tables"][table.key] = table_json(table);
  write_file_atomically(folder_ / ("paper-" + table.key + ".csv"), table_csv(table));
  write_file_atomically(folder_ / "paper.json", document_.dump(2) + "\n");
  out_ << table_text(table) << std::endl;
}

void PaperSession::finish() { progress_.finish(); }

void PaperSession::note_machine(const nlohmann::ordered_json& machine) {
  document_["machine"] = machine;
  out_ << machine_text(machine) << std::endl;
}

BenchTarget whole_machine(const StarpuRuntime& runtime) {
  if (runtime.opencl_workers() > 0) {
    return {Implementation::any, codelets::kAnyWorker,
            fmt::format("all workers ({} cores, {} OpenCL devices)", runtime.cpu_workers(),
                        runtime.opencl_workers())};
  }
  return {Implementation::simd, codelets::kAnyWorker,
          runtime.cpu_workers() == 1 ? "1 core" : fmt::format("{} cores", runtime.cpu_workers())};
}

}  // namespace starpmc
