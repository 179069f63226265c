#include "analysis/block_average.hpp"

#include <cmath>

namespace starpmc {

void BlockAverage::add(double sample) {
  // A sample that completes a block of two is passed on, as their mean, to the next level.
  for (std::size_t level = 0;; ++level) {
    if (level == levels_.size()) levels_.emplace_back();
    Level& here = levels_[level];
    ++here.count;
    const double deviation = sample - here.mean;
    here.mean += deviation / static_cast<double>(here.count);
    here.squared_deviations += deviation * (sample - here.mean);
    if (!here.has_pending) {
      here.pending = sample;
      here.has_pending = true;
      return;
    }
    sample = here.pending + (sample - here.pending) / 2;
    here.has_pending = false;
  }
}

AverageEstimate BlockAverage::estimate() const {
  AverageEstimate estimate;
  if (levels_.empty()) return estimate;
  const auto n = static_cast<double>(levels_.front().count);
  estimate.count = levels_.front().count;
  estimate.mean = levels_.front().mean;

  double uncorrelated_variance = 0;  // of the mean, from blocks of one sample
  double block_length = 1;
  for (const Level& level : levels_) {
    if (level.count < 2) break;
    const auto blocks = static_cast<double>(level.count);
    const double variance = level.squared_deviations / (blocks * (blocks - 1));
    if (block_length == 1) uncorrelated_variance = variance;
    const double ratio = uncorrelated_variance > 0 ? variance / uncorrelated_variance : 1;
    const bool on_plateau = std::pow(block_length, 3) > 2 * n * ratio * ratio;
    if (on_plateau || std::sqrt(variance) > estimate.error) {
      estimate.error = std::sqrt(variance);
      estimate.statistical_inefficiency = ratio;
      estimate.block_length = static_cast<std::uint64_t>(block_length);
    }
    if (on_plateau || uncorrelated_variance == 0) {
      estimate.plateau_reached = true;
      break;
    }
    block_length *= 2;
  }
  return estimate;
}

}  // namespace starpmc
