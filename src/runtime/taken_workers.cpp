#include "runtime/taken_workers.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/codelet.hpp"

namespace starpmc::codelets {
namespace {

/// StarPU's own kind: threads of a simulated machine (tests/scale_on_paper) may wait for it, too.
class Mutex {
 public:
  Mutex() { starpu_pthread_mutex_init(&mutex_, nullptr); }
  ~Mutex() { starpu_pthread_mutex_destroy(&mutex_); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() { starpu_pthread_mutex_lock(&mutex_); }
  void unlock() { starpu_pthread_mutex_unlock(&mutex_); }
  starpu_pthread_mutex_t* get() { return &mutex_; }

 private:
  starpu_pthread_mutex_t mutex_;
};

/// The threads that wait for a worker, first come, first served.
class Queue {
 public:
  Queue() { starpu_pthread_cond_init(&changed_, nullptr); }
  ~Queue() { starpu_pthread_cond_destroy(&changed_); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// @param ready said again after each change
  template <class Ready>
  void wait(Mutex& mutex, Ready ready) {
    const std::uint64_t number = last_++;
    while (number != first_ || !ready()) starpu_pthread_cond_wait(&changed_, mutex.get());
    ++first_;
    change();  // there may be a worker for the next one
  }
  void change() { starpu_pthread_cond_broadcast(&changed_); }

 private:
  starpu_pthread_cond_t changed_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

std::array<std::atomic<bool>, STARPU_NMAXWORKERS> taken{};  // schedulers look without the mutex
std::atomic<unsigned> workers_taken{0};

struct Waiting {
  Mutex mutex;
  Queue queue;
};
Waiting& waiting() {
  static Waiting one;
  return one;
}

std::vector<int> cpu_workers() {
  std::vector<int> ids(starpu_cpu_worker_get_count());
  ids.resize(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids.data(),
                                           static_cast<unsigned>(ids.size())));
  return ids;
}

}  // namespace

int take_worker() {
  const std::vector<int> ids = cpu_workers();
  if (ids.empty()) return kAnyWorker;
  const std::lock_guard lock(waiting().mutex);
  auto free = ids.end();
  waiting().queue.wait(waiting().mutex, [&] {
    free = std::ranges::find_if_not(ids, is_taken);
    return free != ids.end();
  });
  taken[static_cast<std::size_t>(*free)] = true;
  ++workers_taken;
  return *free;
}

void release_worker(int worker) {
  if (worker == kAnyWorker) return;
  const std::lock_guard lock(waiting().mutex);
  taken[static_cast<std::size_t>(worker)] = false;
  --workers_taken;
  waiting().queue.change();
}

bool is_taken(int worker) { return taken[static_cast<std::size_t>(worker)]; }

bool all_cpu_workers_taken() { return workers_taken >= starpu_cpu_worker_get_count(); }

bool Refusals::refuse(int worker) {
  const auto word = static_cast<std::size_t>(worker / kBits);
  std::atomic_ref(workers_[word]).fetch_or(std::uint64_t{1} << (worker % kBits));
  unsigned refused = 0;
  for (std::uint64_t& some : workers_) {
    refused += static_cast<unsigned>(std::popcount(std::atomic_ref(some).load()));
  }
  if (refused < starpu_cpu_worker_get_count()) return true;
  accept(worker);
  return false;
}

void Refusals::accept(int worker) {
  const auto word = static_cast<std::size_t>(worker / kBits);
  std::atomic_ref(workers_[word]).fetch_and(~(std::uint64_t{1} << (worker % kBits)));
}

}  // namespace starpmc::codelets
