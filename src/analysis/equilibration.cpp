#include "analysis/equilibration.hpp"

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
  }
  return best;
}

}  // namespace starpmc
