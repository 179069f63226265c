#include "bench/chains_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <ranges>
#include <string>

#include "bench/engines_alone.hpp"
#include "bench/environment_variable.hpp"
#include "bench/measurement.hpp"
#include "bench/paper_inputs.hpp"
#include "bench/paper_whole_run.hpp"
#include "bench/report.hpp"
#include "io/checked_file.hpp"
#include "io/json_text.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

using Json = nlohmann::ordered_json;

/// What a machine gives changes from minute to minute: everything in turn, and medians.
constexpr int kRounds = 3;
/// Between two updates: the time of a round is that of the updates.
constexpr std::uint64_t kSteps = 1000;

constexpr const char* kExplanation =
    "run: medians of three rounds in turn, n chains on n cores (and the devices); / one: over the "
    "first row\n  alone: as many QM programs without starpmc's chains, which shows what the "
    "machine "
    "itself loses\n  the paper: 1.18 times one chain";

/// The rounds of one number of chains.
struct Scaling {
  unsigned chains = 1;
  std::vector<double> run_seconds;
  std::vector<double> alone_seconds;
};

/// On as many cores as chains, beside the devices: else one chain would sample with all of them.
double run_seconds(unsigned chains, unsigned updates) {
  const EnvironmentVariable cores("STARPU_NCPU", std::to_string(chains));
  return run_whole(chains, updates, kSteps).wall_seconds;
}

/// @param chains empty: chosen by the machine
Json describe(std::vector<unsigned>& chains) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::any);
  if (chains.empty()) {
    chains = {1, whole_run_chains(std::max(runtime.cpu_workers(), 1U))};
    if (chains[0] == chains[1]) chains.pop_back();
  }
  return describe_machine(runtime);
}

std::string table(std::span<const Scaling> rows) {
  std::vector<std::vector<std::string>> lines{
      {"chains", "run s", "/ one", "alone s", "/ one", "run / alone"}};
  const double one = median(rows.front().run_seconds);
  const double one_alone = median(rows.front().alone_seconds);
  for (const Scaling& row : rows) {
    const double run = median(row.run_seconds);
    const double alone = median(row.alone_seconds);
    lines.push_back({std::to_string(row.chains), fmt::format("{:.2f}", run),
                     fmt::format("{:.2f}", run / one), fmt::format("{:.2f}", alone),
                     fmt::format("{:.2f}", alone / one_alone), fmt::format("{:.2f}", run / alone)});
  }
  return aligned(lines, 0);
}

void write(const std::filesystem::path& folder, Json document, std::span<const Scaling> rows,
           unsigned updates) {
  std::string csv = "round,chains,updates,run_seconds,alone_seconds\n";
  for (int round = 0; round < kRounds; ++round) {
    const auto r = static_cast<std::size_t>(round);
    for (const Scaling& row : rows) {
      csv += fmt::format("{},{},{},{},{}\n", round + 1, row.chains, updates, row.run_seconds[r],
                         row.alone_seconds[r]);
    }
  }
  write_file_atomically(folder / "chains.csv", csv);
  for (const Scaling& row : rows) {
    document["scaling"].push_back({{"chains", row.chains},
                                   {"updates", updates},
                                   {"run_seconds", median(row.run_seconds)},
                                   {"alone_seconds", median(row.alone_seconds)}});
  }
  write_file_atomically(folder / "chains.json", json_text(document));
}

}  // namespace

void run_chains_experiment(const ChainsRequest& request, const std::filesystem::path& folder,
                           std::ostream& out) {
  std::vector<unsigned> chains = request.chains;
  Json document{{"machine", describe(chains)}};
  const auto presets = paper_presets();
  const BenchSystem bench = read_paper_system(*std::ranges::find(presets, "R", &BenchPreset::key));
  out << machine_text(document["machine"])
      << fmt::format("\nbench-R, {} QM updates of each chain, {} steps between them\n",
                     request.updates, kSteps)
      << std::flush;
  std::vector<Scaling> rows;
  for (const unsigned count : chains) rows.push_back({count, {}, {}});
  for (int round = 1; round <= kRounds; ++round) {
    for (Scaling& row : rows) {
      row.run_seconds.push_back(run_seconds(row.chains, request.updates));
      row.alone_seconds.push_back(engines_alone_seconds(bench, row.chains, request.updates));
      out << fmt::format("round {}, {}: {:.2f} s, alone {:.2f} s\n", round,
                         row.chains == 1 ? "1 chain" : fmt::format("{} chains", row.chains),
                         row.run_seconds.back(), row.alone_seconds.back())
          << std::flush;
    }
  }
  out << '\n' << table(rows) << "  " << kExplanation << "\n\n";
  write(folder, std::move(document), rows, request.updates);
}

}  // namespace starpmc
