#include "app/block_scf.hpp"

#include <starpu.h>

#include <span>

#include "codelets/operations.hpp"
#include "qm/shared_device.hpp"
#include "runtime/codelet.hpp"

namespace starpmc {

/// Not by HostAccess, which throws where a task has failed, such as one of the chain's steps
/// meanwhile.
BlockScf::~BlockScf() {
  if (!is_task_ || token_.get() == nullptr) return;
  if (starpu_data_acquire(token_.get(), STARPU_RW) == 0) starpu_data_release(token_.get());
}

void BlockScf::work() noexcept {
  try {
    codelets::throw_if_failed();  // of another task: the run ends
    result_ = engine_.update(potential_.at_points, potential_.at_nuclei, potential_.charges);
  } catch (...) {
    error_ = std::current_exception();
  }
  done_ = true;
}

void BlockScf::start(SolventPotential potential) {
  potential_ = std::move(potential);
  error_ = nullptr;
  done_ = false;
  is_task_ = starpu_cpu_worker_get_count() > 0;
  if (!is_task_) {
    work();
    return;
  }
  if (token_.get() == nullptr) token_ = DataHandle::temporary<double>(1);
  {
    const HostAccess<double> token(token_, STARPU_W);
    token.data()[0] = 0;
  }
  const auto body = [](void* self, std::span<const std::span<const double>>) {
    static_cast<BlockScf*>(self)->work();
  };
  const starpu_data_handle_t token = token_.get();
  codelets::qm_update(body, this, static_cast<double>(potential_.at_points.size()),
                      is_gpu(engine_.device()), std::span(&token, 1));
}

QmResult BlockScf::take() {
  if (is_task_) {
    is_task_ = false;
    const HostAccess<double> ended(token_, STARPU_RW);
  }
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  return std::move(result_);
}

}  // namespace starpmc
