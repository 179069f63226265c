#pragma once

#include <mutex>
#include <vector>

#include "io/progress.hpp"

namespace starpmc {

/// One progress line for all chains.
class ProgressBoard {
 public:
  explicit ProgressBoard(Progress progress) : progress_(std::move(progress)) {}

  /// May be called by each chain's thread.
  void update(std::size_t chain, const ProgressState& state);
  void finish();
  /// The chains' last states, by number.
  std::vector<ProgressState> states();

  /// Steps and updates of all; "QM update (2 of 3)" where chains differ.
  static ProgressState merged(const std::vector<ProgressState>& states);

 private:
  std::mutex mutex_;
  std::vector<ProgressState> states_;
  Progress progress_;
};

}  // namespace starpmc
