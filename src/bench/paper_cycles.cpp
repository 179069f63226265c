// Table 3, figure 8 and table 4: a PMC cycle and its kernels, per set of devices.

#include <fmt/format.h>

#include <exception>
#include <map>
#include <utility>

#include "bench/paper_cycle.hpp"
#include "bench/paper_published.hpp"
#include "bench/paper_session.hpp"
#include "bench/precision_list.hpp"
#include "config/value_names.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

constexpr auto kCycleSteps = static_cast<std::uint64_t>(kPaperCycleSteps);

/// Sets of devices: a core, all cores, each device, all devices, and all together.
std::vector<BenchTarget> device_sets(const PaperSession& session, const StarpuRuntime& runtime) {
  std::vector<BenchTarget> targets = all_targets(runtime, session.request().implementations);
  if (runtime.opencl_workers() > 0 && runtime.cpu_workers() > 0) {
    targets.push_back(whole_machine(runtime));
  }
  return targets;
}

std::string platform(const BenchTarget& target) {
  return fmt::format("{}, {}", target.device, value_name(target.implementation));
}

/// Seconds of a whole cycle, by set of devices.
struct MeasuredCycle {
  std::string platform;
  Precision precision;
  double seconds;
};

MeasuredCycle add_cycle(PaperTable& table, const BenchSystem& bench, const BenchTarget& target,
                        Precision precision, const BenchTarget& preparation, double seconds) {
  const CycleSettings settings{precision, TaskSize::automatic, 1, true};
  const CycleTime time =
      PaperCycle(bench, settings, target, preparation).run_for(kCycleSteps, seconds);
  const double scale = kPaperCycleSteps / static_cast<double>(time.steps);
  table.add({platform(target), std::string(value_name(precision)), bench.name, scale * time.seconds,
             scale * time.output_seconds, static_cast<double>(time.steps)});
  return {platform(target), precision, scale * time.seconds};
}

/// Speed-ups over the first cycle, a core in fp64, and over the paper's.
void add_speedups(PaperTable& figure, const std::string& benchmark,
                  const std::vector<MeasuredCycle>& cycles) {
  for (const MeasuredCycle& cycle : cycles) {
    figure.add({cycle.platform, std::string(value_name(cycle.precision)), benchmark,
                cycles.front().seconds / cycle.seconds,
                paper_serial_seconds(benchmark) / cycle.seconds});
  }
}

/// The paper's kernels and the operations that do their work.
struct KernelNames {
  const char* paper;
  std::vector<std::string_view> operations;
};
const std::vector<KernelNames>& kernels() {
  static const std::vector<KernelNames> all{
      {"monte_carlo", {"propose_moves"}},
      {"q3m_c/reduce", {"qmmm_coulomb_grid", "qmmm_coulomb_grid_reduce"}},
      {"mm_vdwc/reduce", {"mm_pair", "mm_pair_table", "mm_pair_reduce"}},
      {"q3m_vdwc", {"qmmm_nuclei_vdw"}},
      {"decide", {"metropolis_decide"}}};
  return all;
}

TaskTimes::Entry kernel_time(const TaskTimes& tasks, const KernelNames& kernel) {
  TaskTimes::Entry sum;
  for (const std::string_view operation : kernel.operations) sum.add(tasks.operation(operation));
  return sum;
}

/// The kernels of one device; a speed-up where the first device's times are known.
/// @param first microseconds per step of the first device, filled by it
void add_kernels(PaperTable& table, const std::string& device, Precision precision,
                 const CycleTime& time, std::map<std::string, double>& first) {
  std::vector<std::pair<std::string, double>> times;
  double total = 0;
  for (const KernelNames& kernel : kernels()) {
    const double microseconds =
        1e6 * kernel_time(time.tasks, kernel).seconds / static_cast<double>(time.steps);
    times.emplace_back(kernel.paper, microseconds);
    total += microseconds;
  }
  times.emplace_back("total", total);
  const bool is_first = first.empty();
  for (const auto& [kernel, microseconds] : times) {
    TableCell speedup;
    if (is_first) {
      first[kernel] = microseconds;
    } else {
      speedup = first.at(kernel) / microseconds;
    }
    table.add({device, std::string(value_name(precision)), kernel, microseconds,
               100 * microseconds / total, speedup});
  }
}

/// The kernels of a device of figure 9, and its share of the grid's tasks.
void add_device(PaperTable& figure, const DeviceRow& device, const CycleTime& time) {
  const TaskTimes::Entry grid = time.tasks.operation("qmmm_coulomb_grid");
  double grid_tasks = 0;
  for (const std::size_t worker : device.workers) {
    grid_tasks += static_cast<double>(grid.worker_tasks[worker]);
  }
  for (const KernelNames& kernel : kernels()) {
    const TaskTimes::Entry entry = kernel_time(time.tasks, kernel);
    double seconds = 0;
    for (const std::size_t worker : device.workers) seconds += entry.worker_seconds[worker];
    TableCell share;
    if (kernel.operations.front() == "qmmm_coulomb_grid") {
      share = 100 * grid_tasks / static_cast<double>(grid.tasks);
    }
    figure.add({device.name, std::string(kernel.paper),
                1e6 * seconds / static_cast<double>(device.workers.size()) /
                    static_cast<double>(time.steps),
                share});
  }
}

/// A core in fp64, as the paper's serial program; then all sets of devices in mixed precision.
void add_benchmark(PaperSession& session, const StarpuRuntime& runtime, const char* key,
                   PaperTable& table, PaperTable& figure) {
  const BenchSystem& bench = session.load(key);
  const BenchTarget preparation = preparation_target(runtime);
  table.notes.push_back(session.describe(key));
  std::vector<MeasuredCycle> cycles;
  const auto add = [&](const BenchTarget& target, Precision precision) {
    session.progress(fmt::format("{}, a PMC cycle on {} in {}", bench.name, target.device,
                                 value_name(precision)));
    cycles.push_back(
        add_cycle(table, bench, target, precision, preparation, session.request().seconds));
  };
  const std::vector<BenchTarget> sets = device_sets(session, runtime);
  add(sets.front(), Precision::fp64);
  for (const BenchTarget& target : sets) add(target, Precision::mixed);
  add_speedups(figure, bench.name, cycles);
}

}  // namespace

void make_inputs(PaperSession& session) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::any);
  preparation_target(runtime).use();
  for (const std::string& key : session.request().cases) session.load(key);
}

void measure_cycles(PaperSession& session) {
  PaperTable table = published_table("table-3");
  PaperTable figure = published_table("figure-8");
  const StarpuRuntime runtime(kBenchPrecisions, Implementation::any);
  for (const char* key : {"A", "B", "C"}) {
    if (!session.has_case(key, table)) continue;
    try {
      add_benchmark(session, runtime, key, table, figure);
    } catch (const std::exception& error) {  // the others are measured all the same
      table.notes.push_back(fmt::format("bench-{} not measured: {}", key, error.what()));
    }
  }
  table.notes.emplace_back(
      "output: an energy every 100 steps and a frame every 1,000, as a run writes them; fewer than "
      "10,000 steps measured: in proportion");
  figure.notes.emplace_back("own core: this machine's first row of the benchmark in table 3");
  session.publish(std::move(table));
  session.publish(std::move(figure));
}

void measure_kernels(PaperSession& session) {
  PaperTable table = published_table("table-4");
  if (session.has_case("A", table)) {
    const StarpuRuntime runtime(kBenchPrecisions, Implementation::any);
    const BenchSystem& bench = session.load("A");
    table.notes.push_back(session.describe("A"));
    std::map<std::string, double> first;
    const auto add = [&](const BenchTarget& target, Precision precision) {
      session.progress(fmt::format("kernels on {} in {}", target.device, value_name(precision)));
      PaperCycle cycle(bench, {precision, TaskSize::terms, 1, false}, target,
                       preparation_target(runtime));
      add_kernels(table, platform(target), precision,
                  cycle.run_for(kCycleSteps, session.request().seconds), first);
    };
    const auto targets = single_targets(runtime, session.request().implementations);
    add(targets.front(), Precision::fp64);
    for (const BenchTarget& target : targets) add(target, Precision::mixed);
    table.notes.push_back(
        "a task per term; speed-up: over this machine's first row, as in the "
        "paper a core in fp64");
    if (runtime.opencl_workers() == 0) {
      table.notes.push_back("this machine has no GPU (PoCL's CPU device: --implementation opencl)");
    }
  }
  session.publish(std::move(table));
}

void measure_devices(PaperSession& session) {
  PaperTable figure = published_table("figure-9");
  if (session.has_case("A", figure)) {
    const StarpuRuntime runtime(Precision::mixed, Implementation::any);
    const BenchSystem& bench = session.load("A");
    const BenchTarget target = whole_machine(runtime);
    session.progress("kernels of each of " + target.device);
    PaperCycle cycle(bench, {Precision::mixed, TaskSize::terms, 1, false}, target,
                     preparation_target(runtime));
    const CycleTime time = cycle.run_for(kCycleSteps, session.request().seconds);
    figure.notes.push_back(session.describe("A"));
    figure.notes.push_back(
        fmt::format("mixed precision, a task per term, placed by StarPU ({}) on {}: {:.0f} us a "
                    "step of the wall clock",
                    runtime.scheduler(), target.device, time.microseconds_per_step()));
    for (const DeviceRow& device : device_rows(runtime)) add_device(figure, device, time);
    figure.notes.emplace_back("times of several cores: the mean of them");
    if (runtime.workers().size() == 1)
      figure.notes.emplace_back("this machine has one worker only");
  }
  session.publish(std::move(figure));
}

}  // namespace starpmc
