#include "runtime/worker_times.hpp"

#include <starpu.h>

#include <atomic>

#include "runtime/task_gaps.hpp"

namespace starpmc::codelets {
namespace {

/// By tasks.
struct Counted {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> count{0};
};
Counted& counted() {
  static Counted of_tasks;
  return of_tasks;
}

/// Since the last call.
Transfers take_transfers() {
  Transfers all{counted().bytes.exchange(0), counted().count.exchange(0)};
  for (int bus = 0; bus < starpu_bus_get_count(); ++bus) {
    starpu_profiling_bus_info info{};
    if (starpu_bus_get_profiling_info(bus, &info) != 0) continue;
    all.bytes += static_cast<std::uint64_t>(info.transferred_bytes);
    all.count += static_cast<std::uint64_t>(info.transfer_count);
  }
  return all;
}

double take_waiting_seconds([[maybe_unused]] int worker) {
  starpu_profiling_worker_info info{};
  if (starpu_profiling_worker_get_info(worker, &info) != 0) return 0;
#if STARPU_MAJOR_VERSION > 1 || STARPU_MINOR_VERSION >= 4
  return starpu_timing_timespec_to_us(&info.waiting_time) * 1e-6;
#else
  return 0;
#endif
}

std::vector<double> take_waiting() {
  std::vector<double> seconds;
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    seconds.push_back(take_waiting_seconds(static_cast<int>(id)));
  }
  return seconds;
}

}  // namespace

void count_transfers(const Transfers& moved) {
  counted().bytes += moved.bytes;
  counted().count += moved.count;
}

WorkerTimes::WorkerTimes() : without_tasks_before_(TaskGaps::of_process().seconds()) {
  take_transfers();
  take_waiting();
}

WorkerTimes::Counts WorkerTimes::take() const {
  return {take_waiting(), TaskGaps::of_process().seconds() - without_tasks_before_,
          take_transfers()};
}

}  // namespace starpmc::codelets
