#pragma once

#include <spdlog/spdlog.h>

#include <utility>
#include <vector>

#include "runtime/device_failure.hpp"
#include "runtime/queued_tasks.hpp"
#include "sampling/chain_state.hpp"
#include "sampling/task_sizes.hpp"

namespace starpmc {

/// Windows whose terms are tasks, where one device makes them all: no other worker would help it.
/// They follow each other in its queue (codelets::QueuedTasks).
template <class Real>
class QueuedWindows {
 public:
  /// @param operations what a window has to do
  void begin(const ChainData<Real>& data, const WindowBuffers<Real>& window,
             const std::vector<Workload>& operations) {
    worker_ = device_alone(operations);
    if (!active()) return;
    if (!std::exchange(told_, true)) {
      spdlog::info("terms of a window follow each other in the queue of {}",
                   codelets::worker_name(worker_));
    }
    settle(data);
    for (const DataHandle* handle : written_anew(data, window)) {
      if (handle->get() != nullptr) handle->leave_to_device(worker_, STARPU_W);
    }
    if (is_kept(data)) window.grid_energies.leave_to_device(worker_, STARPU_RW);
  }

  bool active() const { return worker_ != codelets::kAnyWorker; }
  int worker() const { return worker_; }

  /// Waits for the windows submitted so far. Until the next ones are submitted, lattice and running
  /// totals are what StarPU takes them for. Whoever has read them calls it again: while windows are
  /// made the device's copy is the only one, so that StarPU cannot take another for it.
  void settle(const ChainData<Real>& data) const {
    for (const DataHandle* handle :
         {&data.lattice, &data.lattice_sites, &data.chain_state, &data.field_cache,
          &data.molecule_response, &data.response_total}) {
      if (handle->get() != nullptr) handle->leave_to_device(worker_, STARPU_RW);
    }
  }

  /// No such windows are submitted any more.
  void end(const ChainData<Real>& data) {
    if (active()) settle(data);
    worker_ = codelets::kAnyWorker;
  }

 private:
  /// Where there is neither density nor reference the energies with it stay 0.
  static bool is_kept(const ChainData<Real>& data) {
    return data.density == nullptr && data.reference == nullptr;
  }

  static std::vector<const DataHandle*> written_anew(const ChainData<Real>& data,
                                                     const WindowBuffers<Real>& window) {
    std::vector<const DataHandle*> all{
        &window.plan,        &window.entries, &window.outside,  &window.nuclei_energies,
        &window.mm_energies, &window.table,   &window.responses};
    if (!is_kept(data)) all.push_back(&window.grid_energies);
    for (const auto* parts : {&window.grid_partials, &window.mm_partials}) {
      for (const DataHandle& part : *parts) all.push_back(&part);
    }
    return all;
  }

  int worker_ = codelets::kAnyWorker;
  bool told_ = false;
};

}  // namespace starpmc
