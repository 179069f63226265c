#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "qm/engine.hpp"
#include "qm/worker_engine.hpp"

namespace starpmc {

/// Where the SCFs of a run's engines run is chosen once: with qm.device = auto by the first worker
/// that starts, and all others, and those that replace lost ones, are told. So which of them is
/// quicker changes nothing. From all threads.
class SharedDevice {
 public:
  /// @param workers that may come to share a device
  explicit SharedDevice(unsigned workers = 1) : workers_(workers) {}

  /// Starts a worker; while the first chooses, others wait.
  /// @param again it replaces one that was lost: a device that has gone meanwhile ends no run
  std::unique_ptr<WorkerEngine> start(WorkerCommand command, QmRequest request, bool again);

 private:
  unsigned workers_;
  std::mutex mutex_;
  std::string chosen_;  ///< empty: not yet
};

/// Whether an engine, by what QmEngine::device() says, has its SCF on a GPU.
bool is_gpu(const std::string& device);

}  // namespace starpmc
