#include "sampling/task_sizes.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "codelets/operations.hpp"
#include "kernels/common/layout.h"
#include "runtime/opencl_programs.hpp"
#include "runtime/queued_tasks.hpp"

namespace starpmc {
namespace {

constexpr double kPartMilliseconds = 1;
/// Of workers as fast as the fastest: where all together are fewer, parts are of no use to it.
constexpr double kWorthSharing = 2;
/// Long enough that StarPU's cost of a task (some 10 us) and the wait for the next one do not
/// count, short enough that several are on their way and none is late for a frame.
constexpr double kWindowsMilliseconds = 4;
/// A GPU's thread takes half a millisecond for a task beside its windows, and each chain's next
/// task waits for it. Where many chains share the GPU a task takes longer.
constexpr double kWindowsMillisecondsOnGpu = 30;

bool has_gpu() {
  const codelets::Allowed allowed = codelets::allowed();
  return (allowed == codelets::Allowed::any || allowed == codelets::Allowed::opencl) &&
         codelets::has_opencl_gpu();
}

/// What an operation takes on the workers at hand.
struct Expectation {
  double milliseconds;      ///< on the fastest worker
  double parallel_workers;  ///< how many of the fastest all of them together are

  /// Of the workers, to each of some chains; 0: as many as there are workers.
  double share(unsigned chains) const {
    return chains == 0 ? 1 : std::max(1.0, parallel_workers / chains);
  }
};

/// By the performance model; nothing where a worker has yet to be measured.
std::optional<Expectation> measured(const std::string& codelet, double work) {
  const std::vector<double> workers = codelets::expected_milliseconds(codelet, work);
  if (workers.empty() || std::ranges::any_of(workers, [](double t) { return std::isnan(t); })) {
    return {};
  }
  Expectation expectation{std::ranges::min(workers), 0};
  for (const double t : workers) expectation.parallel_workers += expectation.milliseconds / t;
  return expectation;
}

/// Without measurements: what one H100, or one core with AVX-512, does. Right within a factor of a
/// few, which is enough: too long a task only delays, too short a one only costs its overhead.
Expectation guessed(double pairs) {
  constexpr double kCpuPairsPerMillisecond = 4e6;
  constexpr double kGpuPairsPerMillisecond = 2e9;
  constexpr double kGpuLatencyMilliseconds = 0.15;  // of a window's kernels
  if (has_gpu()) return {kGpuLatencyMilliseconds + pairs / kGpuPairsPerMillisecond, 1};
  const unsigned workers = codelets::allowed() == codelets::Allowed::opencl
                               ? starpu_opencl_worker_get_count()
                               : starpu_worker_get_count();
  return {pairs / kCpuPairsPerMillisecond, static_cast<double>(std::max(workers, 1U))};
}

/// Milliseconds of operations one after another on the fastest worker, by what the performance
/// models have measured on both sides of their sizes.
std::optional<double> measured_sum(const std::vector<Workload>& loads) {
  std::vector<double> sums;
  for (const Workload& load : loads) {
    const std::vector<double> workers = codelets::measured_milliseconds(load.codelet, load.work);
    sums.resize(workers.size());
    for (std::size_t i = 0; i < workers.size(); ++i) sums[i] += workers[i];
  }
  std::optional<double> least;
  for (const double sum : sums) {
    if (!std::isnan(sum)) least = std::min(least.value_or(sum), sum);
  }
  return least;
}

std::optional<std::uint32_t> shortest_good_window(
    const std::function<std::vector<Workload>(std::uint32_t)>& operations) {
  constexpr std::array<std::uint32_t, 3> kLengths{50, 100, 200};
  constexpr double kHardlyMore = 1.05;
  std::array<double, kLengths.size()> step{};
  for (std::size_t i = 0; i < kLengths.size(); ++i) {
    const std::optional<double> window = measured_sum(operations(kLengths[i]));
    if (!window) return {};
    step[i] = *window / kLengths[i];
  }
  const double best = std::ranges::min(step);
  const auto good = std::ranges::find_if(step, [&](double t) { return t <= kHardlyMore * best; });
  return kLengths[static_cast<std::size_t>(good - step.begin())];
}

Expectation expect(const Workload& load) {
  return measured(load.codelet, load.work).value_or(guessed(load.pairs));
}

}  // namespace

std::uint32_t automatic_window(
    std::size_t molecules, bool has_solute,
    const std::function<std::vector<Workload>(std::uint32_t)>& operations) {
  constexpr std::uint32_t kLongWindow = 200;
  // A GPU makes whole windows, which the times of single operations say nothing about, and takes
  // little longer for more steps: its kernels' latency is most of a short window.
  const std::uint32_t steps =
      has_gpu() ? kLongWindow
                : shortest_good_window(operations).value_or(has_solute ? kLongWindow : 96);
  // Beyond about one visit in two per molecule, revisits close windows anyway.
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(molecules, 1, steps));
}

std::uint32_t visits_in_turn() { return has_gpu() ? STARPMC_MAXIMUM_VISITS : 2; }

std::size_t windows_per_task(TaskSize size, const Workload& window, unsigned chains) {
  if (size == TaskSize::terms) return 0;
  const Expectation one = expect(window);
  // Terms share a window out among CPU cores that no other chain wants. Among devices it would have
  // to travel each time.
  if (size == TaskSize::automatic && one.milliseconds > 1 && one.share(chains) >= 2 && !has_gpu()) {
    return 0;
  }
  const double enough = has_gpu() ? kWindowsMillisecondsOnGpu : kWindowsMilliseconds;
  // Not in proportion: a device takes less than twice as long for two windows.
  std::size_t windows = 1;
  while (windows < codelets::kMostWindowsPerTask) {
    const auto n = static_cast<double>(windows);
    const Expectation task = expect({window.codelet, n * window.work, n * window.pairs});
    if (task.milliseconds >= enough) break;
    ++windows;
  }
  return windows;
}

int device_alone(const std::vector<Workload>& operations) {
#ifdef STARPU_SIMGRID
  return codelets::kAnyWorker;  // there is no queue
#endif
  if (!codelets::workers_keep_order()) return codelets::kAnyWorker;
  std::vector<double> speeds;
  for (const Workload& operation : operations) {
    const std::vector<double> workers =
        codelets::expected_milliseconds(operation.codelet, operation.work);
    speeds.resize(workers.size());
    for (std::size_t i = 0; i < workers.size(); ++i) speeds[i] += workers[i];
  }
  for (double& speed : speeds) speed = 1 / speed;
  const auto fastest = std::ranges::max_element(speeds);
  if (fastest == speeds.end()) return codelets::kAnyWorker;
  const double together = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  // Also where a speed is unknown.
  if (!(together < kWorthSharing * *fastest)) return codelets::kAnyWorker;
  const int worker =
      codelets::workers_with_all()[static_cast<std::size_t>(fastest - speeds.begin())];
  return starpu_worker_get_type(worker) == STARPU_OPENCL_WORKER ? worker : codelets::kAnyWorker;
}

std::size_t task_parts(const Workload& whole, unsigned chains) {
  const Expectation expectation = expect(whole);
  const double workers = expectation.share(chains);
  if (workers < kWorthSharing) return 1;
  return static_cast<std::size_t>(
      std::clamp(expectation.milliseconds / kPartMilliseconds, 1.0, std::floor(2 * workers)));
}

}  // namespace starpmc
