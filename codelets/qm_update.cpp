#include <algorithm>
#include <mutex>

#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

/// Updates by the CPU worker that makes them or will. How long one takes, nobody knows beforehand
/// to within a factor of two, so the scheduler would line up one behind another while workers are
/// idle (15 chains on 15 cores took twice as long as one).
class UpdatesOfWorkers {
 public:
  /// The CPU worker with the fewest, which has one more now.
  int take() {
    const std::lock_guard lock(mutex_);
    std::vector<int> ids(starpu_cpu_worker_get_count());
    ids.resize(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids.data(),
                                             static_cast<unsigned>(ids.size())));
    if (ids.empty()) return kAnyWorker;
    updates_.resize(starpu_worker_get_count(), 0);
    const auto number = [this](int id) { return updates_[static_cast<std::size_t>(id)]; };
    const int worker = *std::ranges::min_element(ids, {}, number);
    ++updates_[static_cast<std::size_t>(worker)];
    return worker;
  }
  void release(int worker) {
    const std::lock_guard lock(mutex_);
    if (static_cast<std::size_t>(worker) < updates_.size()) {
      --updates_[static_cast<std::size_t>(worker)];
    }
  }

 private:
  std::mutex mutex_;
  std::vector<int> updates_;
};

UpdatesOfWorkers& updates() {
  static UpdatesOfWorkers all;
  return all;
}

struct Arguments : TaskArguments {
  QmUpdateFunction run;
  void* context;
  int parts;
};

void on_cpu(void* buffers[], void* argument) {
  guarded("qm_update", [&] {
    const auto& a = arguments_of<Arguments>(argument);
    std::vector<std::span<const double>> parts;
    for (int i = 0; i < a.parts; ++i) parts.push_back(span_of<const double>(buffers[i]));
    a.run(a.context, parts);
  });
  updates().release(starpu_worker_get_id());
}

}  // namespace

void qm_update(QmUpdateFunction run, void* context, double expected_work,
               std::span<const starpu_data_handle_t> parts) {
  static Codelet codelet("starpmc_qm_update", {nullptr, on_cpu, nullptr});
  Arguments a{{}, run, context, static_cast<int>(parts.size())};
  a.work_bucket = work_bucket(expected_work);
  std::vector<Access> accesses;
  for (const auto handle : parts) accesses.push_back({handle, STARPU_R});
  a.worker = updates().take();
  codelet.submit(accesses, a);
}

}  // namespace starpmc::codelets
