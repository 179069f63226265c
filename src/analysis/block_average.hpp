#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/series_moments.hpp"

namespace starpmc {

/// Mean of a correlated series and how well it is known.
struct AverageEstimate {
  double mean = 0;
  /// Half-width of the interval about `mean` that holds the true mean with 68 %: standard_error
  /// times the factor of Student's distribution.
  double error = 0;
  double standard_error = 0;            ///< of the mean, correlation included
  double statistical_inefficiency = 1;  ///< samples that make up one independent one, at least 1
  std::uint64_t count = 0;              ///< samples
  double degrees_of_freedom = 0;        ///< of standard_error
  /// False if the series is too short to tell: fewer than kFewestEffectiveSamples by the upper end
  /// of what the inefficiency may be. The error is then a guess, however careful. The inefficiency
  /// counts here as at least that of an exponential correlation with the neighbours' own r,
  /// (1 + r) / (1 - r): no reversible Markov chain has less, for its correlation is a mixture of
  /// exponentials and that a convex function of r. Known far better than the sum over the window,
  /// it keeps out series whose sum came out small by chance. False, too, of a series that never
  /// changed: its error is 0, which says nothing unless the quantity cannot change.
  bool long_enough = false;

  double effective_samples() const { return static_cast<double>(count) / statistical_inefficiency; }
};

inline constexpr double kFewestEffectiveSamples = 100;

/// Running average of a correlated series. Its error comes from integrated_covariance() of the
/// means of equal blocks, 256 to 511 of them once there are that many samples: blocks of one sample
/// at first, merged in pairs whenever there are 512. So memory is bounded; and a slow correlation
/// with little of the variance, which the automatic window overlooks beside a fast one with much of
/// it, comes to the fore as blocks grow. The inefficiency is that of the samples, n times the
/// variance of the mean over theirs; below 1, as for an anticorrelated series, it is taken as 1.
class BlockAverage {
 public:
  void add(double sample);
  AverageEstimate estimate() const;

  std::uint64_t count() const { return moments_.count; }
  /// Means of the whole blocks, in order, and the samples in each.
  std::span<const double> blocks() const { return blocks_; }
  std::uint64_t block_length() const { return block_length_; }

  /// All there is to it: restored from this, another BlockAverage goes on with the same bits.
  nlohmann::json state() const;
  /// Takes the place of what was here.
  /// @throws RunError naming the key and what is wrong with it; nothing has changed then
  void restore(const nlohmann::json& document);

 private:
  SeriesMoments moments_;
  std::vector<double> blocks_;
  std::uint64_t block_length_ = 1;
  double begun_sum_ = 0;            ///< of the samples after the last whole block
  double last_ = 0;                 ///< sample
  double squared_differences_ = 0;  ///< sum over neighbours
};

}  // namespace starpmc
