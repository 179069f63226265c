#include "analysis/block_average.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/integrated_covariance.hpp"
#include "analysis/state_document.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kMostBlocks = 512;

/// Samples in a block, a power of two, when there are `count` of them.
std::uint64_t block_length_at(std::uint64_t count) {
  std::uint64_t length = 1;
  while (count / length >= kMostBlocks) length *= 2;
  return length;
}

void merge_pairs(std::vector<double>& blocks) {
  for (std::size_t i = 0; i < blocks.size() / 2; ++i) {
    blocks[i] = blocks[2 * i] + (blocks[2 * i + 1] - blocks[2 * i]) / 2;
  }
  blocks.resize(blocks.size() / 2);
}

/// (1 + r) / (1 - r), r the correlation of neighbours.
/// @param half_difference half the mean squared difference of neighbours: (1 - r) variance
double least_inefficiency(double half_difference, double variance) {
  return std::max(1.0, 2 * variance / half_difference - 1);
}

}  // namespace

void BlockAverage::add(double sample) {
  if (moments_.count > 0) squared_differences_ += (sample - last_) * (sample - last_);
  last_ = sample;
  moments_.add(sample);
  begun_sum_ += sample;
  if (moments_.count % block_length_ != 0) return;
  blocks_.push_back(begun_sum_ / static_cast<double>(block_length_));
  begun_sum_ = 0;
  if (blocks_.size() < kMostBlocks) return;
  merge_pairs(blocks_);
  block_length_ *= 2;
}

AverageEstimate BlockAverage::estimate() const {
  AverageEstimate estimate;
  estimate.mean = moments_.mean;
  estimate.count = moments_.count;
  if (moments_.count < 2) return estimate;
  estimate.degrees_of_freedom = static_cast<double>(moments_.count - 1);
  if (moments_.squared_deviations == 0) return estimate;

  const IntegratedCovariance blocks = integrated_covariance(blocks_);
  const auto length = static_cast<double>(block_length_);
  const auto n = static_cast<double>(moments_.count);
  const double sum = std::max(blocks.sum * length, moments_.variance());
  const double variance_of_mean = sum / n;
  const double variance = moments_.squared_deviations / n + variance_of_mean;  // of the samples
  estimate.statistical_inefficiency = std::max(1.0, sum / variance);
  const bool as_independent = blocks.window_closed && blocks.sum * length <= moments_.variance();
  if (!as_independent) estimate.degrees_of_freedom = blocks.degrees_of_freedom;
  estimate.standard_error = std::sqrt(variance_of_mean);
  estimate.error = student_factor(estimate.degrees_of_freedom) * estimate.standard_error;
  const double inefficiency =
      std::max(estimate.statistical_inefficiency,
               least_inefficiency(squared_differences_ / (2 * (n - 1)), variance));
  estimate.long_enough = blocks.window_closed &&
                         n / inefficiency >= kFewestEffectiveSamples *
                                                 upper_variance_factor(blocks.degrees_of_freedom);
  return estimate;
}

nlohmann::json BlockAverage::state() const {
  return {{"count", moments_.count},
          {"mean", moments_.mean},
          {"squared_deviations", moments_.squared_deviations},
          {"blocks", blocks_},
          {"begun_sum", begun_sum_},
          {"last", last_},
          {"squared_differences", squared_differences_}};
}

void BlockAverage::restore(const nlohmann::json& document) {
  const StateDocument values("block average", document);
  // The number of samples fixes how many blocks there are and how long each is.
  const std::uint64_t count = values.count("count");
  const std::uint64_t length = block_length_at(count);
  std::vector<double> blocks = values.numbers("blocks", count / length);
  const double begun_sum = values.number("begun_sum");
  const double last = values.number("last");
  const double squared_differences = values.sum_of_squares("squared_differences");
  moments_ = {count, values.number("mean"), values.sum_of_squares("squared_deviations")};
  blocks_ = std::move(blocks);
  block_length_ = length;
  begun_sum_ = begun_sum;
  last_ = last;
  squared_differences_ = squared_differences;
}

}  // namespace starpmc
