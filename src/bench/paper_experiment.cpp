#include "bench/paper_experiment.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <ostream>
#include <utility>

#include "bench/figures.hpp"
#include "bench/paper_inputs.hpp"
#include "bench/paper_published.hpp"
#include "bench/paper_session.hpp"
#include "bench/precision_list.hpp"
#include "bench/report.hpp"

namespace starpmc {
namespace {

/// A measurement and the tables that come of it.
struct Measurement {
  void (*measure)(PaperSession&);
  std::vector<std::string_view> tables;
};

std::vector<Measurement> measurements() {
  return {{measure_cycles, {"table-3", "figure-8"}},
          {measure_kernels, {"table-4"}},
          {measure_devices, {"figure-9"}},
          {measure_convergence, {"figure-10"}},
          {measure_scaling, {"figure-11"}},
          {measure_chains, {"table-5", "table-6"}},
          {measure_precisions, {"table-7", "table-9"}},
          {measure_error_table, {"table-8"}}};
}

/// A measurement that fails must not cost the others.
void measure(const Measurement& measurement, PaperSession& session) {
  try {
    measurement.measure(session);
  } catch (const std::exception& error) {
    for (const std::string_view key : measurement.tables) {
      PaperTable table = published_table(key);
      table.notes.push_back(std::string("not measured: ") + error.what());
      session.publish(std::move(table));
    }
  }
}

std::string shown(const InputCheck& check) {
  constexpr std::size_t kDigest = 64;
  const auto shortened = [](const std::string& text) {
    return text.size() == kDigest ? text.substr(0, 16) + "..." : text;
  };
  const std::string verdict = check.expected.empty() ? "nothing to compare with"
                              : check.same           ? "as it should be"
                                                     : "DIFFERS from " + check.expected;
  return fmt::format("  {:<22} {:<22} {}", check.what, shortened(check.found), verdict);
}

}  // namespace

void run_paper_experiment(const PaperRequest& request, const std::filesystem::path& folder,
                          std::ostream& out) {
  PaperSession session(request, folder, out);
  {
    // What the first one chooses of StarPU's environment stays: PoCL's CPU device takes a core, so
    // it takes part where OpenCL is asked for by name.
    const StarpuRuntime runtime(
        kBenchPrecisions, request.opencl_by_name ? Implementation::opencl : Implementation::any);
    for (const std::string& warning : runtime.warnings()) spdlog::warn(warning);
    session.note_machine(describe_machine(runtime));
  }
  for (const Measurement& measurement : measurements()) {
    if (std::ranges::any_of(measurement.tables,
                            [&](std::string_view key) { return session.wants(key); })) {
      measure(measurement, session);
    }
  }
  session.finish();
  out << std::flush;
  draw_figures(folder, "paper_figures.py");
}

bool make_paper_inputs(const std::vector<std::string>& cases, std::ostream& out) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::any);
  bool same = true;
  for (const BenchPreset& preset : paper_presets()) {
    if (std::ranges::find(cases, preset.key) == cases.end()) continue;
    const BenchSystem bench = load_paper_input(preset);
    const PaperInputFiles files = paper_input_files(preset);
    out << fmt::format("{}: {} waters, {} grid points (the paper: {})\n  {}\n  {}\n  {}\n",
                       preset.name, bench.system.molecules.size(), bench.grid.size(), preset.points,
                       files.coordinates.string(), files.topology.string(), files.density.string());
    for (const InputCheck& check : check_paper_input(preset)) {
      out << shown(check) << '\n';
      same = same && (check.same || check.expected.empty());
    }
    out << std::flush;
  }
  return same;
}

}  // namespace starpmc
