#pragma once

#include "kernels/base/error.hpp"

namespace starpmc {

/// The worker died, hung or spoke garbage: a fresh one may do better. What a worker reports itself,
/// such as an SCF that does not converge, is a plain RunError.
class WorkerLost : public RunError {
 public:
  using RunError::RunError;
};

/// By a signal, such as the kernel's when memory runs out: what happened to it while it started
/// need not happen to the next one.
class WorkerKilled : public WorkerLost {
 public:
  using WorkerLost::WorkerLost;
};

/// So were all the fresh ones that a RestartingEngine tried: another engine may still do it.
class WorkersLost : public RunError {
 public:
  using RunError::RunError;
};

/// QmEngine::cancel() was called.
class Cancelled : public RunError {
 public:
  Cancelled() : RunError("the QM update was cancelled") {}
};

}  // namespace starpmc
