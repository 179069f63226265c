#include "analysis/block_average.hpp"

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/state_document.hpp"

namespace starpmc {

void BlockAverage::add(double sample) {
  // A sample that completes a block of two is passed on, as their mean, to the next level.
  for (std::size_t level = 0;; ++level) {
    if (level == levels_.size()) levels_.emplace_back();
    Level& here = levels_[level];
    here.moments.add(sample);
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
  const auto n = static_cast<double>(levels_.front().moments.count);
  estimate.count = levels_.front().moments.count;
  estimate.mean = levels_.front().moments.mean;

  double uncorrelated_variance = 0;  // of the mean, from blocks of one sample
  double block_length = 1;
  for (const Level& level : levels_) {
    const SeriesMoments& moments = level.moments;
    if (moments.count < 2) break;
    const auto blocks = static_cast<double>(moments.count);
    const double variance = moments.squared_deviations / (blocks * (blocks - 1));
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

nlohmann::json BlockAverage::state() const {
  auto means = nlohmann::json::array();
  auto squared_deviations = nlohmann::json::array();
  auto pending = nlohmann::json::array();
  for (const Level& level : levels_) {
    means.push_back(level.moments.mean);
    squared_deviations.push_back(level.moments.squared_deviations);
    pending.push_back(level.pending);
  }
  return {{"count", count()},
          {"mean", std::move(means)},
          {"squared_deviations", std::move(squared_deviations)},
          {"pending", std::move(pending)}};
}

void BlockAverage::restore(const nlohmann::json& document) {
  const StateDocument values("block average", document);
  // The number of samples fixes how many levels there are, how many blocks each has, and whether
  // one of them waits for its other half.
  const std::uint64_t count = values.count("count");
  const auto size = static_cast<std::size_t>(std::bit_width(count));
  const std::vector<double> means = values.numbers("mean", size);
  const std::vector<double> squared_deviations = values.sums_of_squares("squared_deviations", size);
  const std::vector<double> pending = values.numbers("pending", size);
  std::vector<Level> levels(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t blocks = count >> i;
    levels[i] = {{blocks, means[i], squared_deviations[i]}, pending[i], blocks % 2 == 1};
  }
  levels_ = std::move(levels);
}

}  // namespace starpmc
