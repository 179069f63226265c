#include "codelets/operations.hpp"
#include "runtime/taken_workers.hpp"

namespace starpmc::codelets {
namespace {

struct Arguments : TaskArguments {
  QmUpdateFunction run;
  void* context;
  int parts;
};

/// Not by guarded(): who waits for the update must hear of its end, after another task's failure,
/// too.
void on_cpu(void* buffers[], void* argument) {
  try {
    const auto& a = arguments_of<Arguments>(argument);
    std::vector<std::span<const double>> parts;
    for (int i = 0; i < a.parts; ++i) parts.push_back(span_of<const double>(buffers[i]));
    a.run(a.context, parts);
  } catch (const std::exception& error) {
    report_failure(std::string("QM: ") + error.what());
  }
  release_worker(starpu_worker_get_id());
}

void submit(Codelet& codelet, QmUpdateFunction run, void* context, double expected_work,
            std::span<const starpu_data_handle_t> parts) {
  Arguments a{{}, run, context, static_cast<int>(parts.size())};
  a.work_bucket = work_bucket(expected_work);
  std::vector<Access> accesses;
  for (const auto handle : parts) accesses.push_back({handle, STARPU_R});
  a.worker = take_worker();
  try {
    codelet.submit(accesses, a);
  } catch (...) {
    release_worker(a.worker);
    throw;
  }
}

}  // namespace

void qm_update(QmUpdateFunction run, void* context, double expected_work, bool on_gpu,
               std::span<const starpu_data_handle_t> parts) {
  static Codelet of_cores("starpmc_qm_update", {nullptr, on_cpu, nullptr});
  static Codelet of_gpus("starpmc_qm_update_on_gpu", {nullptr, on_cpu, nullptr});
  submit(on_gpu ? of_gpus : of_cores, run, context, expected_work, parts);
}

void qm_preparation(QmUpdateFunction run, void* context, double expected_work) {
  static Codelet codelet("starpmc_qm_preparation", {nullptr, on_cpu, nullptr});
  submit(codelet, run, context, expected_work, {});
}

}  // namespace starpmc::codelets
