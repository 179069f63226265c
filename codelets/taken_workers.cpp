#include "codelets/taken_workers.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "codelets/codelet.hpp"

namespace starpmc::codelets {
namespace {

std::mutex mutex;  // of those who change them; schedulers only look
std::array<std::atomic<int>, STARPU_NMAXWORKERS> times_taken{};
std::atomic<unsigned> workers_taken{0};

std::atomic<int>& times_of(int worker) { return times_taken[static_cast<std::size_t>(worker)]; }

std::vector<int> cpu_workers() {
  std::vector<int> ids(starpu_cpu_worker_get_count());
  ids.resize(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids.data(),
                                           static_cast<unsigned>(ids.size())));
  return ids;
}

}  // namespace

int take_worker() {
  const std::lock_guard lock(mutex);
  const std::vector<int> ids = cpu_workers();
  if (ids.empty()) return kAnyWorker;
  const int worker = *std::ranges::min_element(ids, {}, [](int id) { return times_of(id).load(); });
  if (times_of(worker)++ == 0) ++workers_taken;
  return worker;
}

void release_worker(int worker) {
  if (worker == kAnyWorker) return;
  const std::lock_guard lock(mutex);
  if (--times_of(worker) == 0) --workers_taken;
}

bool is_taken(int worker) { return times_of(worker) > 0; }

bool all_cpu_workers_taken() { return workers_taken >= starpu_cpu_worker_get_count(); }

}  // namespace starpmc::codelets
