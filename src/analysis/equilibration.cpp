#include "analysis/equilibration.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "analysis/integrated_covariance.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kParts = 20;

/// In units of blocks.
double effective_blocks(std::span<const double> blocks) {
  const IntegratedCovariance found = integrated_covariance(blocks);
  if (found.sum == 0) return 1;
  return static_cast<double>(blocks.size()) * found.variance / found.sum;
}

/// Above it one per cent of Student's distribution lies, to a few per cent from three degrees of
/// freedom on: the first terms of its Cornish-Fisher expansion (Abramowitz and Stegun, 26.7.5), of
/// which every machine gets the same bits.
double upper_per_cent_of_t(double degrees_of_freedom) {
  constexpr double z = 2.3263478740408408;  // of the normal distribution
  constexpr double z3 = z * z * z;
  constexpr double first = (z3 + z) / 4;
  constexpr double second = (5 * z3 * z * z + 16 * z3 + 3 * z) / 96;
  const double inverse = 1 / degrees_of_freedom;
  return z + (first + second * inverse) * inverse;
}

/// Whether the means of two parts differ by more than such parts of what the second one is.
bool differ(std::span<const double> before, std::span<const double> rest) {
  const auto mean = [](std::span<const double> part) {
    return std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size());
  };
  const IntegratedCovariance found = integrated_covariance(rest);
  const double variance =
      found.sum / static_cast<double>(before.size()) + found.sum / static_cast<double>(rest.size());
  const double limit = upper_per_cent_of_t(std::max(1.0, found.degrees_of_freedom));
  const double difference = mean(before) - mean(rest);
  return difference * difference > limit * limit * variance;
}

/// Of the straight line of least squares through values at equal distances.
struct Line {
  double change = 0;  ///< over the length of the series
  std::vector<double> residuals;

  explicit Line(std::span<const double> values) : residuals(values.begin(), values.end()) {
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double moment = 0;
    for (std::size_t i = 0; i < values.size(); ++i) moment += from_middle(i) * (values[i] - mean);
    change = 12 * moment / (n * n - 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      residuals[i] -= mean + change * from_middle(i) / n;
    }
  }
  double from_middle(std::size_t i) const {
    return static_cast<double>(i) - (static_cast<double>(residuals.size()) - 1) / 2;
  }
};

}  // namespace

bool is_at_rest(const BlockAverage& series) {
  const std::span<const double> blocks = series.blocks();
  if (blocks.size() < kParts) return false;
  const Equilibration found = detect_equilibration(series);
  if (!(found.share < 0.5)) return false;
  const auto first = static_cast<std::size_t>(found.share * static_cast<double>(blocks.size()));
  const Line line(blocks.subspan(first));
  const auto n = static_cast<double>(line.residuals.size());
  const IntegratedCovariance of_rest = integrated_covariance(line.residuals);
  if (of_rest.sum == 0) return line.change == 0;
  const double deviation = std::sqrt(2 / of_rest.degrees_of_freedom);
  const double effective = n * of_rest.variance / (of_rest.sum * (1 + 2 * deviation));
  return of_rest.window_closed && effective >= kEffectiveSamplesAtRest &&
         line.change * line.change <= 4 * 12 * of_rest.sum / n;
}

Equilibration detect_equilibration(const BlockAverage& series) {
  const AverageEstimate all = series.estimate();
  Equilibration best;
  best.mean_from_there = all.mean;
  best.effective_samples_from_there = best.effective_samples_of_all =
      series.count() == 0 ? 0 : all.effective_samples();
  const std::span<const double> blocks = series.blocks();
  if (blocks.size() < kParts) return best;
  const double of_all = effective_blocks(blocks);
  double most = of_all;
  for (std::size_t part = 1; part <= kParts / 2; ++part) {
    const auto rest = blocks.subspan(blocks.size() * part / kParts);
    const double effective = effective_blocks(rest);
    if (effective <= most) continue;
    most = effective;
    const auto size = static_cast<double>(rest.size());
    best.share = 1 - size / static_cast<double>(blocks.size());
    best.mean_from_there = std::accumulate(rest.begin(), rest.end(), 0.0) / size;
    best.effective_samples_from_there = best.effective_samples_of_all * effective / of_all;
    best.stands_out = differ(blocks.first(blocks.size() - rest.size()), rest);
  }
  return best;
}

}  // namespace starpmc
