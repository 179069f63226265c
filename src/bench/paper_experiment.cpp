#include "bench/paper_experiment.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <ostream>
#include <utility>

#include "bench/figures.hpp"
#include "bench/paper_inputs.hpp"
#include "bench/paper_plan.hpp"
#include "bench/paper_published.hpp"
#include "bench/paper_session.hpp"
#include "bench/precision_list.hpp"
#include "bench/report.hpp"

namespace starpmc {
namespace {

/// A measurement that fails must not cost the others.
void measure(const PaperSection& section, PaperSession& session) {
  try {
    section.measure(session);
  } catch (const std::exception& error) {
    for (const std::string_view key : section.tables) {
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

void run_paper_experiment(PaperRequest request, const std::filesystem::path& folder,
                          std::ostream& out) {
  PaperScale scale;
  nlohmann::ordered_json machine;
  {
    // What the first one chooses of StarPU's environment stays: PoCL's CPU device takes a core, so
    // it takes part where OpenCL is asked for by name.
    const StarpuRuntime runtime(
        kBenchPrecisions, request.opencl_by_name ? Implementation::opencl : Implementation::any);
    for (const std::string& warning : runtime.warnings()) spdlog::warn(warning);
    machine = describe_machine(runtime);
    scale = paper_scale(runtime, request);
  }
  complete_request(scale, request);
  PaperSession session(request, estimated_seconds(scale, request), folder, out);
  session.note_machine(machine);
  out << plan_text(scale, request) << std::endl;
  for (const PaperSection& section : wanted_sections(request)) {
    const double estimate = section.estimate(scale, request);
    session.begin(section_name(section), estimate);
    measure(section, session);
    session.end();
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
