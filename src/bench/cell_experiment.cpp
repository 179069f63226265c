#include "bench/cell_experiment.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "bench/cell_runs.hpp"
#include "bench/environment_variable.hpp"
#include "bench/figures.hpp"
#include "bench/report.hpp"
#include "bench/root_accuracy.hpp"
#include "codelets/opencl_programs.hpp"
#include "config/value_names.hpp"
#include "io/checked_file.hpp"
#include "io/json_text.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kParticles = 128;
/// Of a task in the first and third figure, plain and SIMD: some milliseconds. One thread prepares
/// and submits the tasks of all workers.
constexpr std::array<std::size_t, 2> kEvaluations{512, 4096};
constexpr std::array kImplementations{Implementation::scalar, Implementation::simd};
/// Tasks and bare cores in turn: what a machine gives may change from second to second.
constexpr int kRounds = 2;
constexpr std::array<std::size_t, 5> kSizes{128, 256, 512, 2048, 8000};
constexpr std::array<std::size_t, 6> kGranularities{1, 4, 16, 64, 256, 1024};
/// Evaluations of large systems are long enough alone.
constexpr double kMostPairsPerTask = 1e9;

constexpr const char* kPaperWorkers =
    "the paper (16 SPEs of two Cell processors, 3.2 GHz): scales well with the number of SPEs, "
    "optimised and not; about 150 times the PPE in all with 16 SPEs";
constexpr const char* kPaperGranularity =
    "the paper (one SPE): performance grows with the granularity and with the size of the system; "
    "at most about 8,000 particles, and tasks of at least 100 ns";
constexpr const char* kPaperTasks =
    "the paper: tasks are prepared first, then all SPEs work at the same time";
constexpr const char* kPaperAccuracy =
    "the paper takes the estimate alone (spu_rsqrte) and states no error";

/// A CSV file of lines with the same columns.
class Table {
 public:
  explicit Table(std::string names) : text_(std::move(names) + "\n") {}
  template <class... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    text_ += fmt::format(form, std::forward<Values>(values)...) + "\n";
  }
  void write(const std::filesystem::path& path) const { write_file_atomically(path, text_); }

 private:
  std::string text_;
};

/// StarPU has so many CPU workers, on as many cores as it takes: none is kept for devices, or for
/// the program itself (StarpuRuntime, where there is a GPU).
class CpuWorkers {
 public:
  explicit CpuWorkers(unsigned count) : count_("STARPU_NCPU", std::to_string(count)) {}

 private:
  EnvironmentVariable count_;
  EnvironmentVariable reserved_{"STARPU_RESERVE_NCPU", "0"};
  EnvironmentVariable devices_{"STARPU_NOPENCL", "0"};
};

class CellExperiment {
 public:
  CellExperiment(const CellRequest& request, std::filesystem::path folder, std::ostream& out)
      : request_(request),
        folder_(std::move(folder)),
        out_(out),
        system_(kParticles, kEvaluations.back(), request.seed) {}

  void run() {
    accuracy();
    plain_ = plain_seconds(system_, request_.seconds);
    describe_machine_and_devices();
    workers_figure();
    granularity_figure();
    summary_["paper"] = {{"workers", kPaperWorkers},
                         {"granularity", kPaperGranularity},
                         {"tasks", kPaperTasks},
                         {"accuracy", kPaperAccuracy}};
    write_file_atomically(folder_ / "cell.json", json_text(summary_));
    out_ << std::flush;
    draw_figures(folder_, "cell_figures.py");
  }

 private:
  void accuracy() {
    const std::vector<RootAccuracy> rows = measure_root_accuracy(request_.seed);
    Table table(
        "instruction_set,newton_steps,rms_relative_error,largest_error_of_pairs,nanoseconds_per_"
        "pair");
    out_ << fmt::format(
        "Coulomb energies in fp32, sums in fp64; 1/sqrt from the processor's "
        "estimate\n  {:<10} {:>12} {:>12} {:>12} {:>10}\n",
        "", "Newton steps", "rms error", "largest", "ns/pair");
    for (const RootAccuracy& row : rows) {
      const bool plain = row.instruction_set == "plain";
      table.add("{},{},{},{},{}", row.instruction_set,
                plain ? "" : fmt::format("{}", row.newton_steps), row.rms_relative_error,
                row.largest_error, row.nanoseconds_per_pair);
      out_ << fmt::format("  {:<10} {:>12} {:>12.1e} {:>12.1e} {:>10.3f}\n", row.instruction_set,
                          plain ? "" : fmt::format("{}", row.newton_steps), row.rms_relative_error,
                          row.largest_error, row.nanoseconds_per_pair);
    }
    summary_["fewest_newton_steps_for_1e-6"] = fewest_good_steps(rows);
    out_ << fmt::format("  fewest steps for 1e-6: {}\n  {}\n\n", fewest_good_steps(rows),
                        kPaperAccuracy)
         << std::flush;
    table.write(folder_ / "cell-accuracy.csv");
  }

  /// With all workers: how many there are, and what accelerators do.
  void describe_machine_and_devices() {
    const StarpuRuntime runtime(Precision::mixed, Implementation::any);
    summary_["machine"] = describe_machine(runtime);
    all_workers_ = runtime.cpu_workers();
    summary_["plain_seconds_per_evaluation"] = plain_;
    out_ << machine_text(summary_["machine"])
         << fmt::format("\nplain kernel on one core: {:.3g} us per evaluation ({:.3g} pairs/s)\n\n",
                        1e6 * plain_, system_.pairs() / plain_);
    if (!codelets::has_opencl_gpu()) return;
    CellSystem wide(kParticles, kGpuEvaluations, request_.seed);
    for (const Implementation implementation : {Implementation::opencl, Implementation::any}) {
      StarpuRuntime::restrict_to(implementation);
      const double time = task_seconds(wide, kGpuEvaluations, request_.seconds).evaluation_seconds;
      summary_["speedup_with_gpu"][value_name(implementation)] = plain_ / time;
      out_ << fmt::format("GPU, {}: {:.1f} times the plain kernel\n\n", value_name(implementation),
                          plain_ / time);
    }
  }

  std::vector<unsigned> worker_counts() const {
    if (!request_.workers.empty()) return request_.workers;
    std::vector<unsigned> counts;
    for (unsigned n = 1; n < all_workers_; n *= 2) counts.push_back(n);
    if (all_workers_ > 0) counts.push_back(all_workers_);
    return counts;
  }

  /// Times the plain kernel on one core.
  struct Speedups {
    double tasks = 0;
    double cores = 0;  ///< the same threads without tasks
  };

  Speedups speedups(std::size_t i) {
    Speedups best;
    StarpuRuntime::restrict_to(kImplementations[i]);
    for (int round = 0; round < kRounds; ++round) {
      const double tasks =
          task_seconds(system_, kEvaluations[i], request_.seconds / kRounds).evaluation_seconds;
      const double cores =
          core_seconds(system_, kImplementations[i], kEvaluations[i], request_.seconds / kRounds);
      best = {std::max(best.tasks, plain_ / tasks), std::max(best.cores, plain_ / cores)};
    }
    return best;
  }

  void workers_figure() {
    Table table(
        "implementation,workers,evaluations_per_task,microseconds_per_evaluation,speedup,"
        "parallel_efficiency,cores_speedup,share_of_cores");
    out_ << fmt::format(
        "{} particles, {} and {} evaluations a task; of cores: of what the same threads give "
        "without "
        "tasks\n  {:>7} {:>10} {:>11} {:>9} {:>10} {:>11} {:>9}\n",
        kParticles, kEvaluations[0], kEvaluations[1], "workers", "plain", "efficiency", "of cores",
        "optimised", "efficiency", "of cores");
    std::array<double, 2> first{};
    const std::vector<unsigned> counts = worker_counts();
    for (const unsigned count : counts) {
      const CpuWorkers workers(count);
      const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
      out_ << fmt::format("  {:>7}", count);
      for (const std::size_t i : {0U, 1U}) {
        const Speedups best = speedups(i);
        if (count == counts.front()) first[i] = best.tasks / count;
        const double efficiency = best.tasks / (first[i] * count);
        table.add("{},{},{},{},{},{},{},{}", value_name(kImplementations[i]), count,
                  kEvaluations[i], 1e6 * plain_ / best.tasks, best.tasks, efficiency, best.cores,
                  best.tasks / best.cores);
        out_ << fmt::format(" {:>10.2f} {:>9.0f} % {:>7.0f} %", best.tasks, 100 * efficiency,
                            100 * best.tasks / best.cores)
             << std::flush;
        summary_["largest_speedup"] = std::max(summary_.value("largest_speedup", 0.0), best.tasks);
      }
      out_ << '\n' << std::flush;
      if (count == counts.back()) tasks_figure();
    }
    out_ << "  " << kPaperWorkers << "\n\n";
    table.write(folder_ / "cell-workers.csv");
  }

  /// The tasks of one short run with the SIMD kernels.
  void tasks_figure() {
    constexpr double kShort = 0.03;
    codelets::TaskRecording recording;
    task_seconds(system_, kEvaluations.back(), kShort);
    std::vector<codelets::TaskRecord> records = recording.records();
    // The last of the repeated runs: what comes after the longest pause of submission.
    std::ranges::sort(records, {}, &codelets::TaskRecord::submitted);
    std::size_t begin = 0;
    for (std::size_t i = 1; i < records.size(); ++i) {
      const bool all_had_ended = std::all_of(
          records.begin(), records.begin() + static_cast<long>(i),
          [&](const codelets::TaskRecord& record) { return record.ended <= records[i].submitted; });
      if (all_had_ended) begin = i;
    }
    Table table("worker,submitted_ms,started_ms,ended_ms");
    const double zero = records[begin].submitted;
    double worked = 0;
    double end = 0;
    for (std::size_t i = begin; i < records.size(); ++i) {
      const auto& record = records[i];
      table.add("{},{:.4f},{:.4f},{:.4f}", record.worker, 1e3 * (record.submitted - zero),
                1e3 * (record.started - zero), 1e3 * (record.ended - zero));
      worked += record.ended - record.started;
      end = std::max(end, record.ended - zero);
    }
    summary_["tasks"] = {
        {"tasks", records.size() - begin}, {"seconds", end}, {"worked_seconds", worked}};
    table.write(folder_ / "cell-tasks.csv");
  }

  void granularity_figure() {
    Table table(
        "particles,evaluations_per_task,pairs_per_task,microseconds_per_task,"
        "kernel_microseconds_per_task,speedup");
    out_ << "one worker, optimised: times the plain kernel, by evaluations a task\n  particles";
    for (const std::size_t granularity : kGranularities) out_ << fmt::format("{:>8}", granularity);
    out_ << '\n';
    const CpuWorkers workers(1);
    const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
    for (const std::size_t particles : kSizes) {
      CellSystem system(particles, kGranularities.back(), request_.seed);
      const double plain = plain_seconds(system, request_.seconds);
      out_ << fmt::format("  {:>9}", particles);
      for (const std::size_t granularity : kGranularities) {
        const double pairs = system.pairs() * static_cast<double>(granularity);
        if (pairs > kMostPairsPerTask) break;
        const CellTime time = task_seconds(system, granularity, request_.seconds);
        const double task = time.evaluation_seconds * static_cast<double>(granularity);
        table.add("{},{},{},{},{},{}", particles, granularity, pairs, 1e6 * task,
                  1e6 * time.task_seconds, plain / time.evaluation_seconds);
        out_ << fmt::format("{:>8.2f}", plain / time.evaluation_seconds) << std::flush;
      }
      out_ << '\n';
    }
    out_ << "  " << kPaperGranularity << "\n  " << kPaperTasks << "\n\n";
    table.write(folder_ / "cell-granularity.csv");
  }

  static constexpr std::size_t kGpuEvaluations = 65536;

  CellRequest request_;
  std::filesystem::path folder_;
  std::ostream& out_;
  CellSystem system_;
  double plain_ = 0;
  unsigned all_workers_ = 1;
  Json summary_;
};

}  // namespace

void run_cell_experiment(const CellRequest& request, const std::filesystem::path& folder,
                         std::ostream& out) {
  CellExperiment(request, folder, out).run();
}

}  // namespace starpmc
