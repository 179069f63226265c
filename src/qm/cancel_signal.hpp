#pragma once

#include <atomic>

#include "kernels/base/file_descriptor.hpp"

namespace starpmc {

/// Tells a thread that waits in poll() to give up. Raised once, it stays raised.
class CancelSignal {
 public:
  /// @throws RunError when the system has no descriptor left
  CancelSignal();

  /// From any thread.
  void raise() noexcept;
  bool raised() const noexcept { return raised_; }
  /// Readable once raised.
  int descriptor() const { return event_.get(); }

 private:
  std::atomic<bool> raised_ = false;
  FileDescriptor event_;
};

}  // namespace starpmc
