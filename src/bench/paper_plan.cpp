#include "bench/paper_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "bench/paper_inputs.hpp"
#include "bench/paper_session.hpp"
#include "bench/paper_whole_run.hpp"
#include "io/progress.hpp"

namespace starpmc {
namespace {

/// Planned, so that a machine with something else to do ends within the 15 minutes that are
/// promised.
constexpr double kMostSeconds = 12 * 60;
constexpr double kFewestOfMeasurement = 1;
constexpr double kMostOfMeasurement = 5;
constexpr double kPreferredOfMeasurement = 3;

/// Of a measurement: the steps themselves, the warm-up, and the starting energies.
constexpr double kWithWarmUp = 1.4;
/// Seconds in which the QM program is ready, and a run of the program has started and ended.
constexpr double kQmStart = 12;
constexpr double kQmUpdate = 5;
/// Pairs of an atom and a grid point per second, of a core and of a device, at least about.
constexpr double kCorePairs = 1.5e9;
constexpr double kDevicePairs = 2e11;
/// Pairs of a step of bench-A, and the steps that make table 8's configurations.
constexpr double kPairsOfStep = 5.3e6;
constexpr double kPreparingSteps = 8000;
/// Making the grids of figure 11, and all their points together.
constexpr double kSyntheticGrids = 20;
constexpr double kSyntheticPoints = 15.75e6;
/// A precision of table 9 on one device: its windows are prepared, timed and metered.
constexpr double kPrecision = 5;
/// StarPU's start, with kernels to compile.
constexpr double kStart = 2;

/// Core-seconds in which PySCF makes a density, on an EPYC of 2023.
struct DensityCost {
  std::string_view key;
  double core_seconds;
};
constexpr std::array<DensityCost, 4> kDensityCosts{{{"A", 250}, {"B", 250}, {"C", 700}, {"R", 30}}};

bool contains(const std::vector<std::string>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

double density_seconds(const PaperScale& scale, std::string_view key) {
  if (scale.small || contains(scale.made, key)) return 0;
  const auto cost = std::ranges::find(kDensityCosts, key, &DensityCost::key);
  return kQmStart + cost->core_seconds / scale.threads;
}

/// The starting energies of a chain: all atoms with all grid points.
double energies_seconds(const PaperScale& scale, double molecules, double points) {
  constexpr double kAtoms = 3;
  if (scale.small) return 0;
  return kAtoms * molecules * points /
         (kCorePairs * scale.cpu_workers + kDevicePairs * scale.devices);
}

double start_seconds(const PaperScale& scale, std::string_view key) {
  for (const BenchPreset& preset : paper_presets()) {
    if (preset.key != key) continue;
    return energies_seconds(scale, static_cast<double>(preset.waters),
                            static_cast<double>(preset.points));
  }
  return 0;
}

double estimate_inputs(const PaperScale& scale, const PaperRequest& request) {
  double sum = 0;
  for (const std::string& key : request.cases) sum += density_seconds(scale, key);
  return sum;
}

/// A core, all cores, each device and all of them, the whole machine.
double device_sets(const PaperScale& scale) {
  const double of_cores = scale.cpu_workers > 1 ? 2 : 1;
  const double of_devices = scale.devices + (scale.devices > 1 ? 1 : 0);
  return of_cores + of_devices + (scale.devices > 0 ? 1 : 0);
}

double estimate_cycles(const PaperScale& scale, const PaperRequest& request) {
  double sum = 0;
  for (const char* key : {"A", "B", "C"}) {
    if (!contains(request.cases, key)) continue;
    sum += (device_sets(scale) + 1) * (kWithWarmUp * request.seconds + start_seconds(scale, key));
  }
  return sum > 0 ? kStart + sum : 0;
}

double with_case(const PaperRequest& request, std::string_view key, double seconds) {
  return contains(request.cases, key) ? seconds : 0;
}

double estimate_kernels(const PaperScale& scale, const PaperRequest& request) {
  const double one = kWithWarmUp * request.seconds + start_seconds(scale, "A");
  return with_case(request, "A", kStart + (2 + scale.devices) * one);
}

double estimate_devices(const PaperScale& scale, const PaperRequest& request) {
  return with_case(request, "A",
                   kStart + kWithWarmUp * request.seconds + start_seconds(scale, "A"));
}

double estimate_convergence(const PaperScale& scale, const PaperRequest& request) {
  const char* const key = contains(request.cases, "C") ? "C" : "A";
  return with_case(request, key,
                   2 * kStart + 3 * kWithWarmUp * request.seconds + start_seconds(scale, key));
}

double estimate_scaling(const PaperScale& scale, const PaperRequest& request) {
  constexpr double kWaters = 1301;  // of bench-A
  return with_case(request, "A",
                   kSyntheticGrids + 6 * kWithWarmUp * request.seconds +
                       2 * energies_seconds(scale, kWaters, kSyntheticPoints));
}

double estimate_chains(const PaperScale& scale, const PaperRequest& request) {
  const bool several = scale.whole_chains > 1;
  const double cycles = (2 + (several ? 4 : 2)) * kWithWarmUp * request.seconds;
  // Runs of one update and of several, of one chain and of n, with their steps.
  const double runs = (several ? 2 : 1) * (2 * kQmStart + 4 * kQmUpdate + 9 * request.seconds);
  return with_case(request, "R", cycles + runs);
}

double estimate_errors(const PaperScale& scale, const PaperRequest& request) {
  const double pairs =
      (kPreparingSteps / 2 + 6 * static_cast<double>(scale.proposals)) * kPairsOfStep;
  return with_case(request, "A",
                   kStart + start_seconds(scale, "A") + pairs / (kCorePairs * scale.cpu_workers));
}

double estimate_precisions(const PaperScale& scale, const PaperRequest& request) {
  const double targets = device_sets(scale) - (scale.devices > 0 ? 1 : 0);
  return with_case(request, "A", kStart + targets * 3 * kPrecision);
}

const std::vector<PaperSection>& all_sections() {
  static const std::vector<PaperSection> all{
      {"boxes, and densities by the QM program (kept in the cache)",
       {},
       make_inputs,
       estimate_inputs},
      {"a PMC cycle of 10,000 steps per set of devices",
       {"table-3", "figure-8"},
       measure_cycles,
       estimate_cycles},
      {"time and share of each kernel", {"table-4"}, measure_kernels, estimate_kernels},
      {"kernels of each of several devices", {"figure-9"}, measure_devices, estimate_devices},
      {"convergence of the devices' shares",
       {"figure-10"},
       measure_convergence,
       estimate_convergence},
      {"a second device against the size of the grid",
       {"figure-11"},
       measure_scaling,
       estimate_scaling},
      {"PMC cycle, QM update and whole run of bench-R",
       {"table-5", "table-6"},
       measure_chains,
       estimate_chains},
      {"speed and energy of the precisions",
       {"table-7", "table-9"},
       measure_precisions,
       estimate_precisions},
      {"errors of the precisions", {"table-8"}, measure_error_table, estimate_errors}};
  return all;
}

}  // namespace

std::string section_name(const PaperSection& section) {
  return section.tables.empty() ? "inputs" : fmt::format("{}", fmt::join(section.tables, ", "));
}

std::span<const PaperSection> paper_sections() { return all_sections(); }

std::vector<PaperSection> wanted_sections(const PaperRequest& request) {
  std::vector<PaperSection> wanted;
  for (const PaperSection& section : paper_sections()) {
    const bool is_wanted =
        section.tables.empty() || std::ranges::any_of(section.tables, [&](std::string_view key) {
          return contains(request.tables, key);
        });
    if (is_wanted) wanted.push_back(section);
  }
  return wanted;
}

PaperScale paper_scale(const StarpuRuntime& runtime, const PaperRequest& request) {
  PaperScale scale;
  scale.cpu_workers = std::max(1U, runtime.cpu_workers());
  scale.devices = runtime.opencl_workers();
  scale.threads = std::max(1U, std::thread::hardware_concurrency());
  scale.whole_chains = request.chains > 0 ? request.chains : whole_run_chains(scale.cpu_workers);
  scale.proposals = request.proposals;
  scale.small = request.overrides.waters || request.overrides.points;
  for (const BenchPreset& preset : paper_presets()) {
    if (has_paper_density(preset)) scale.made.emplace_back(preset.key);
  }
  return scale;
}

double estimated_seconds(const PaperScale& scale, const PaperRequest& request) {
  double sum = 0;
  for (const PaperSection& section : wanted_sections(request)) {
    sum += section.estimate(scale, request);
  }
  return sum;
}

void complete_request(const PaperScale& scale, PaperRequest& request) {
  const bool choose_seconds = request.seconds == 0;
  if (choose_seconds) request.seconds = kPreferredOfMeasurement;
  if (request.cases.empty()) {
    for (const std::vector<std::string>& cases :
         {std::vector<std::string>{"A", "B", "C", "R"}, {"A", "B", "R"}, {"A", "R"}}) {
      request.cases = cases;
      if (scale.small || estimated_seconds(scale, request) <= kMostSeconds) break;
    }
  }
  if (!choose_seconds) return;
  // Estimates grow linearly with the seconds.
  const double all = estimated_seconds(scale, request);
  PaperRequest none = request;
  none.seconds = 0;
  const double fixed = estimated_seconds(scale, none);
  const double rate = std::max((all - fixed) / request.seconds, 1e-9);
  request.seconds = std::floor(
      std::clamp((kMostSeconds - fixed) / rate, kFewestOfMeasurement, kMostOfMeasurement));
}

std::string plan_text(const PaperScale& scale, const PaperRequest& request) {
  std::string text = fmt::format("cases {}, {:g} s a measurement; about {} in all:\n",
                                 fmt::join(request.cases, ", "), request.seconds,
                                 format_duration(estimated_seconds(scale, request)));
  for (const PaperSection& section : wanted_sections(request)) {
    const double seconds = section.estimate(scale, request);
    if (seconds == 0) continue;
    text += fmt::format("  {:<20} {:>11}  {}\n", section_name(section), format_duration(seconds),
                        section.what);
  }
  for (const std::string& key : request.cases) {
    if (density_seconds(scale, key) == 0) continue;
    text += fmt::format("  the density of bench-{} has to be made, once: about {}\n", key,
                        format_duration(density_seconds(scale, key)));
  }
  for (const BenchPreset& preset : paper_presets()) {
    if (contains(request.cases, preset.key)) continue;
    text += fmt::format("  without {}: --cases names it\n", preset.name);
  }
  return text;
}

}  // namespace starpmc
