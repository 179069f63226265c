#include "sampling/task_sizes.hpp"

#include <starpu.h>

#include <algorithm>
#include <cmath>

#include "codelets/opencl_programs.hpp"
#include "codelets/operations.hpp"

namespace starpmc {
namespace {

/// Pairs one CPU core computes in a millisecond with AVX-512; right within a factor of a few, which
/// is enough: too long a task only delays, too short a one only costs its overhead.
constexpr double kPairsPerMillisecond = 4e6;

bool has_gpu() {
  if (codelets::allowed() != codelets::Allowed::any &&
      codelets::allowed() != codelets::Allowed::opencl) {
    return false;
  }
  int workers[STARPU_NMAXWORKERS];
  const auto count =
      starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, workers, STARPU_NMAXWORKERS);
  for (unsigned i = 0; i < count; ++i) {
    if (codelets::is_opencl_gpu(starpu_worker_get_devid(workers[i]))) return true;
  }
  return false;
}

}  // namespace

std::uint32_t automatic_window(std::size_t molecules, bool has_solute) {
  // The field energies of a window are one large kernel; the pair table grows with its square,
  // which only they can hide. Beyond about one visit in two per molecule, revisits close windows
  // anyway.
  const std::uint32_t most = has_solute ? 200 : 96;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(molecules, 1, most));
}

std::size_t windows_per_task(TaskSize size, double pairs) {
  // Long enough that StarPU's cost of a task (some 10 us) and the wait for the next one do not
  // count, short enough that several are on their way and none is late for a frame.
  constexpr double kTaskMilliseconds = 4;
  if (size == TaskSize::terms) return 0;
  constexpr double kMost = codelets::kMostWindowsPerTask;
  if (has_gpu()) {
    // What an H100 needs for a window: its kernels' latencies, and the pairs. StarPU tries such a
    // task on a CPU core, too, some ten times: no longer than necessary.
    constexpr double kLatencyMilliseconds = 0.25;
    constexpr double kGpuPairsPerMillisecond = 2e9;
    constexpr double kGpuTaskMilliseconds = 4;
    const double window = kLatencyMilliseconds + pairs / kGpuPairsPerMillisecond;
    return static_cast<std::size_t>(
        std::clamp(std::ceil(kGpuTaskMilliseconds / window), 1.0, kMost));
  }
  const double window_milliseconds = std::max(pairs / kPairsPerMillisecond, 1e-3);
  if (size == TaskSize::automatic && window_milliseconds > 1 && starpu_worker_get_count() > 1) {
    return 0;
  }
  return static_cast<std::size_t>(std::clamp(kTaskMilliseconds / window_milliseconds, 1.0, kMost));
}

std::size_t task_parts(double pairs) {
  if (has_gpu()) return 1;
  const auto workers = static_cast<double>(std::max(
      1U, codelets::allowed() == codelets::Allowed::opencl ? starpu_opencl_worker_get_count()
                                                           : starpu_worker_get_count()));
  return static_cast<std::size_t>(std::clamp(pairs / kPairsPerMillisecond, 1.0, 2 * workers));
}

}  // namespace starpmc
