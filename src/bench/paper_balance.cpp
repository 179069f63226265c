// Figures 10 and 11: how work is shared between devices, and what a second one brings.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "bench/environment_variable.hpp"
#include "bench/paper_cycle.hpp"
#include "bench/paper_published.hpp"
#include "bench/paper_session.hpp"
#include "bench/synthetic_grid.hpp"
#include "runtime/starpu_runtime.hpp"
#include "temporary_folder.hpp"

namespace starpmc {
namespace {

/// Steps between two looks at the shares; the paper's balancing interval.
constexpr double kInterval = 2000;
constexpr int kIntervals = 10;
/// Pairs per second a CPU worker and a device manage at least, to choose an interval that fits the
/// time without measuring before there is anything to see.
constexpr double kCorePairs = 3e9;
constexpr double kDevicePairs = 5e11;
constexpr double kFewestSteps = 10;

constexpr std::array<std::size_t, 6> kGridSizes{250'000,   500'000,   1'000'000,
                                                2'000'000, 4'000'000, 8'000'000};

std::uint64_t interval_steps(const BenchSystem& bench, const StarpuRuntime& runtime,
                             double seconds) {
  const double rate = kCorePairs * runtime.cpu_workers() + kDevicePairs * runtime.opencl_workers();
  const double step = 3 * static_cast<double>(bench.grid.size()) / rate;
  return static_cast<std::uint64_t>(
      std::clamp(seconds / kIntervals / step, kFewestSteps, kInterval));
}

void add_interval(PaperTable& figure, const StarpuRuntime& runtime, double steps,
                  const CycleTime& time) {
  const TaskTimes::Entry grid = time.tasks.operation("qmmm_coulomb_grid");
  for (const DeviceRow& device : device_rows(runtime)) {
    std::uint64_t tasks = 0;
    for (const std::size_t worker : device.workers) tasks += grid.worker_tasks[worker];
    figure.add({steps, device.name,
                100 * static_cast<double>(tasks) /
                    static_cast<double>(std::max<std::uint64_t>(grid.tasks, 1)),
                time.microseconds_per_step()});
  }
}

/// One device and two of a kind, or a device and the cores.
struct Pair {
  BenchTarget one;
  BenchTarget both;
};

/// @return nothing where there is one worker only
std::optional<Pair> pair_of(const StarpuRuntime& runtime) {
  std::vector<WorkerDescription> devices;
  std::vector<WorkerDescription> cores;
  for (const WorkerDescription& worker : runtime.workers()) {
    (worker.opencl ? devices : cores).push_back(worker);
  }
  if (devices.size() >= 2) {
    return Pair{
        {Implementation::opencl, devices[0].id, devices[0].name},
        {Implementation::opencl, codelets::kAnyWorker, counted(devices.size(), "OpenCL device")}};
  }
  if (devices.size() == 1 && !cores.empty()) {
    return Pair{{Implementation::opencl, devices[0].id, devices[0].name},
                {Implementation::any, codelets::kAnyWorker,
                 fmt::format("{} + {}", devices[0].name, counted(cores.size(), "core"))}};
  }
  if (cores.size() >= 2) {
    return Pair{{Implementation::simd, cores[0].id, "1 core"},
                {Implementation::simd, codelets::kAnyWorker, "2 cores"}};
  }
  return {};
}

/// What stands for the second device on this machine.
std::string second_device_note(const StarpuRuntime& runtime) {
  if (runtime.opencl_workers() >= 2) return "";
  if (runtime.opencl_workers() == 1) {
    return "this machine has one OpenCL device: the cores are the second";
  }
  return "this machine has no GPU: two cores instead of two devices";
}

/// Two CPU workers where there is no device, else all.
std::optional<EnvironmentVariable> two_cores() {
  const StarpuRuntime runtime(Precision::mixed, Implementation::any);
  if (runtime.opencl_workers() > 0 || runtime.cpu_workers() < 2) return std::nullopt;
  return std::optional<EnvironmentVariable>(std::in_place, "STARPU_NCPU", "2");
}

double measured_step(const BenchSystem& bench, const BenchTarget& target,
                     const StarpuRuntime& runtime, double seconds) {
  PaperCycle cycle(bench, {Precision::mixed, TaskSize::automatic, 1, false}, target,
                   preparation_target(runtime));
  return cycle.run_for(static_cast<std::uint64_t>(kPaperCycleSteps), seconds)
      .microseconds_per_step();
}

/// bench-A without its density; the caller's grids replace it.
BenchSystem without_density(const BenchSystem& bench) {
  return {bench.name, bench.system, bench.settings, {}, true};
}

}  // namespace

void measure_convergence(PaperSession& session) {
  PaperTable figure = published_table("figure-10");
  // bench-C as in the paper, where it was asked for; it takes minutes to make.
  const char* const key = session.has_case("C") ? "C" : "A";
  if (session.has_case(key, figure)) {
    // No models at all: what is known of this machine stays as it is.
    const TemporaryFolder models;
    const EnvironmentVariable folder("STARPU_PERF_MODEL_DIR", models.path().string() + "/");
    const StarpuRuntime runtime(Precision::mixed, Implementation::any);
    const BenchSystem& bench = session.load(key);
    const BenchTarget target = whole_machine(runtime);
    session.progress("convergence of the shares on " + target.device);
    const std::uint64_t steps = interval_steps(bench, runtime, 3 * session.request().seconds);
    PaperCycle cycle(bench, {Precision::mixed, TaskSize::terms, 1, false}, target,
                     preparation_target(runtime));
    for (int i = 1; i <= kIntervals; ++i) {
      session.progress(fmt::format("convergence, interval {} of {}", i, kIntervals));
      const CycleTime time = cycle.run(steps);
      add_interval(figure, runtime, static_cast<double>(steps) * i, time);
    }
    figure.notes.push_back(session.describe(key));
    figure.notes.push_back(
        fmt::format("shares are those of the grid's tasks in the {} steps before; scheduler {}",
                    steps, runtime.scheduler()));
    if (runtime.workers().size() == 1)
      figure.notes.emplace_back("this machine has one worker only");
  }
  session.publish(std::move(figure));
}

void measure_scaling(PaperSession& session) {
  PaperTable figure = published_table("figure-11");
  if (session.has_case("A", figure)) {
    const auto cores = two_cores();
    const StarpuRuntime runtime(Precision::mixed, Implementation::any);
    const auto pair = pair_of(runtime);
    if (pair) {
      BenchSystem bench = without_density(session.load("A"));
      const Solute& solute = *bench.system.solute;
      int electrons = -1;  // arginine's charge is +1
      for (const int number : solute.atomic_numbers) electrons += number;
      const std::size_t most = session.request().overrides.points.value_or(kGridSizes.back());
      for (const std::size_t points : kGridSizes) {
        const std::size_t size = std::min(points, most);
        session.progress(fmt::format("{} grid points on one device and on two", size));
        bench.grid = synthetic_grid(solute, electrons, size);
        const double share = 0.5 * session.request().seconds;
        const double one = measured_step(bench, pair->one, runtime, share);
        const double both = measured_step(bench, pair->both, runtime, share);
        figure.add({pair->one.device + "; " + pair->both.device, static_cast<double>(size), one,
                    both, one / both});
        if (size == most) break;
      }
      figure.notes.emplace_back(
          "one chain of bench-A with synthetic densities, mixed precision; how the grid is cut, "
          "and "
          "whether at all, is StarPU's models' choice");
      if (const std::string note = second_device_note(runtime); !note.empty()) {
        figure.notes.push_back(note);
      }
    } else {
      figure.notes.emplace_back("not measured: this machine has one worker, so no second device");
    }
  }
  session.publish(std::move(figure));
}

}  // namespace starpmc
