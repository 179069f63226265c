#pragma once

#include <cstdint>
#include <limits>

namespace starpmc {

/// Count, mean and spread of a series, one sample at a time or one series at a time.
struct SeriesMoments {
  std::uint64_t count = 0;
  double mean = 0;                ///< in the unit of the samples
  double squared_deviations = 0;  ///< sum of (sample - mean)^2, in that unit squared

  /// Welford, Technometrics 4, 419 (1962).
  void add(double sample) {
    ++count;
    const double deviation = sample - mean;
    mean += deviation / static_cast<double>(count);
    squared_deviations += deviation * (sample - mean);
  }

  /// Makes these the moments of both series together: Chan, Golub and LeVeque, Am. Stat. 37,
  /// 242 (1983), eq. 2.1.
  void add(const SeriesMoments& other) {
    if (other.count == 0) return;
    const auto here = static_cast<double>(count);
    const auto there = static_cast<double>(other.count);
    const double share = there / (here + there);
    const double deviation = other.mean - mean;
    count += other.count;
    mean += deviation * share;
    squared_deviations += other.squared_deviations + deviation * deviation * here * share;
  }

  /// Unbiased for independent samples; NaN with fewer than two.
  double variance() const {
    if (count < 2) return std::numeric_limits<double>::quiet_NaN();
    return squared_deviations / static_cast<double>(count - 1);
  }
};

}  // namespace starpmc
