// Tables 7, 8 and 9: the precisions' speed, errors and energy.

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "bench/measurement.hpp"
#include "bench/operations.hpp"
#include "bench/paper_power.hpp"
#include "bench/paper_published.hpp"
#include "bench/paper_session.hpp"
#include "bench/precision_errors.hpp"
#include "bench/precision_list.hpp"
#include "config/value_names.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

constexpr double kPotentialPairs = 1e7;  // of an operation that is not measured here
/// Windows for each worker whose tasks run in turn: more than StarPU keeps in its pipeline.
constexpr std::size_t kWindowsInTurn = 4;

/// Power counters are renewed about ten times a second.
constexpr double kMeteredSeconds = 2;

/// The grid term of one device in one precision.
struct GridTerm {
  double microseconds_per_step = 0;
  std::optional<double> watts;  ///< mean while it ran
};

/// A device, or as many as work at once, with the readings of their power.
struct MeteredTarget {
  BenchTarget target;
  std::size_t workers;
  EnergyReading energy;
};

/// Each core of several evaluates windows of its own.
template <class Real>
GridTerm time_grid(const BenchSystem& bench, const MeteredTarget& metered, double seconds) {
  metered.target.use();
  const std::size_t workers = metered.workers;
  BenchData<Real> data(bench);
  const auto steps = static_cast<int>(automatic_window(loads_of<Real>(bench), true));
  const BenchWindows<Real> windows(data, {steps, kPotentialPairs}, workers * kWindowsInTurn);
  GridTerm term;
  for (const BenchOperation& operation : windows.operations()) {
    if (operation.name != "qmmm_coulomb_grid") continue;
    const auto submit = [&](std::uint64_t i) {
      for (std::size_t k = 0; k < workers; ++k) {
        operation.submit((i * workers + k) % windows.size());
      }
    };
    term.microseconds_per_step = 1e6 * repeat_tasks(seconds, submit).seconds /
                                 windows.steps_per_window() / static_cast<double>(workers);
    if (metered.energy.counter) {  // kernels are compiled by now, and the device is warm
      term.watts = mean_watts(*metered.energy.counter, kMeteredSeconds,
                              [&] { repeat_tasks(kMeteredSeconds, submit); });
    }
  }
  return term;
}

/// Rows of both tables for one device.
/// @param first microseconds of the machine's first row, filled by it
void add_device(const BenchSystem& bench, const MeteredTarget& metered, double seconds,
                double& first, PaperTable& speeds, PaperTable& energies) {
  const BenchTarget& target = metered.target;
  std::optional<GridTerm> reference;
  const std::string device =
      fmt::format("{}, {}", target.device, value_name(target.implementation));
  for (const Precision precision : kBenchPrecisions) {
    const GridTerm term = with_precision(
        precision, [&]<class Real>() { return time_grid<Real>(bench, metered, seconds); });
    if (!reference) reference = term;
    if (first == 0) first = term.microseconds_per_step;
    const std::string name(value_name(precision));
    if (precision != Precision::fp64) {
      speeds.add({device, name, reference->microseconds_per_step / term.microseconds_per_step});
    }
    TableCell watts;
    TableCell savings;
    if (term.watts) {
      watts = *term.watts;
      const double own = *term.watts * term.microseconds_per_step;
      const double fp64 = *reference->watts * reference->microseconds_per_step;
      if (precision != Precision::fp64) savings = 100 * (1 - own / fp64);
    }
    energies.add({device, name, term.microseconds_per_step, watts,
                  first / term.microseconds_per_step, savings});
  }
  energies.notes.push_back(device + ": " +
                           (metered.energy.counter
                                ? "power by " + metered.energy.counter->name()
                                : "no power readings: " + metered.energy.reason));
}

std::size_t worker_count(const BenchTarget& target, const StarpuRuntime& runtime) {
  if (target.worker != codelets::kAnyWorker) return 1;
  const bool opencl = target.implementation == Implementation::opencl;
  return opencl ? runtime.opencl_workers() : runtime.cpu_workers();
}

/// All cores together, for an error does not depend on how many they are, and each other device.
std::vector<BenchTarget> error_targets(const PaperSession& session, const StarpuRuntime& runtime) {
  std::vector<BenchTarget> targets = single_targets(runtime, session.request().implementations);
  for (BenchTarget& target : targets) {
    if (target.implementation == Implementation::opencl) continue;
    target = {target.implementation, codelets::kAnyWorker, "CPU"};
  }
  return targets;
}

}  // namespace

void measure_precisions(PaperSession& session) {
  PaperTable speeds = published_table("table-7");
  PaperTable energies = published_table("table-9");
  if (session.has_case("A", speeds)) {
    const StarpuRuntime runtime(kBenchPrecisions, Implementation::any);
    const BenchSystem& bench = session.load("A");
    speeds.notes.push_back(session.describe("A"));
    energies.notes.push_back(session.describe("A"));
    double first = 0;
    for (const BenchTarget& target : all_targets(runtime, session.request().implementations)) {
      session.progress("the grid term in every precision on " + target.device);
      const MeteredTarget metered{target, worker_count(target, runtime), energy_counter(target)};
      add_device(bench, metered, session.request().seconds / 2, first, speeds, energies);
    }
  } else {
    energies.notes.insert(energies.notes.end(), speeds.notes.begin(), speeds.notes.end());
  }
  session.publish(std::move(speeds));
  session.publish(std::move(energies));
}

void measure_error_table(PaperSession& session) {
  PaperTable table = published_table("table-8");
  if (session.has_case("A", table)) {
    const StarpuRuntime runtime(kBenchPrecisions, Implementation::any);
    const BenchSystem& bench = session.load("A");
    session.progress("errors of the precisions");
    constexpr std::array kReduced{Precision::mixed, Precision::fixed};
    for (const BenchCase& entry :
         measure_errors(bench, error_targets(session, runtime), kReduced,
                        session.request().proposals, preparation_target(runtime))) {
      const auto figure = [&](const char* name) { return entry.figure(name)->value; };
      table.add({entry.device + ", " + entry.implementation, entry.precision,
                 figure("grid_mean_error_kj_per_mol"), figure("grid_max_error_kj_per_mol"),
                 figure("total_mean_error_kj_per_mol"), figure("total_max_error_kj_per_mol")});
    }
    table.notes.push_back(session.describe("A"));
    table.notes.push_back(
        fmt::format("{} proposals; reference: SIMD in fp64", session.request().proposals));
  }
  session.publish(std::move(table));
}

}  // namespace starpmc
