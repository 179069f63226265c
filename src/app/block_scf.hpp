#pragma once

#include <atomic>
#include <exception>
#include <memory>

#include "app/solvent_potential.hpp"
#include "qm/engine.hpp"
#include "runtime/data_handle.hpp"

namespace starpmc {

/// The SCF at a block's end as a task of its own, so that the chain can go on sampling meanwhile.
class BlockScf {
 public:
  explicit BlockScf(QmEngine& engine) : engine_(engine) {}
  /// Waits for a task that is on its way.
  ~BlockScf();
  BlockScf(const BlockScf&) = delete;
  BlockScf& operator=(const BlockScf&) = delete;

  /// Without CPU workers the calling thread does it, and returns when it is done.
  void start(SolventPotential potential);
  bool done() const { return done_; }
  /// Waits for it.
  /// @throws what the engine threw
  QmResult take();

 private:
  void work() noexcept;

  QmEngine& engine_;
  SolventPotential potential_;
  QmResult result_;
  std::exception_ptr error_;
  std::atomic<bool> done_ = true;
  bool is_task_ = false;
  DataHandle token_;  ///< that the task reads: writing it waits for the task
};

}  // namespace starpmc
