#pragma once

#include "error.hpp"

namespace starpmc {

/// The worker died, hung or spoke garbage: a fresh one may do better. What a worker reports itself,
/// such as an SCF that does not converge, is a plain RunError.
class WorkerLost : public RunError {
 public:
  using RunError::RunError;
};

/// QmEngine::cancel() was called.
class Cancelled : public RunError {
 public:
  Cancelled() : RunError("the QM update was cancelled") {}
};

}  // namespace starpmc
