#include "analysis/equilibration.hpp"

#include <numeric>
#include <span>

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

}  // namespace

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
