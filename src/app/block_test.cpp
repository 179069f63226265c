#include "app/block_test.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/integrated_covariance.hpp"
#include "kernels/scalar/moves.hpp"

namespace starpmc {
namespace {

/// Of the random numbers: those of the steps have the first few (kernels/common/moves.h).
constexpr std::uint64_t kBlockStream = 16;
constexpr std::uint64_t kShortestBlock = 250;
constexpr double kDigits = 10;  ///< of the interval: two

}  // namespace

BlockDecision test_block(double start, double end, double kt, std::uint64_t seed,
                         std::uint32_t chain, std::uint64_t step) {
  double uniform = 0;
  double unused = 0;
  scalar::draw_pair(step, kBlockStream, chain, seed, &uniform, &unused);
  const double probability = std::exp(-std::max(0.0, end - start) / kt);
  return {probability, uniform < probability};
}

std::uint64_t automatic_block(std::span<const double> energies, std::uint64_t interval,
                              std::uint64_t most) {
  double steps = static_cast<double>(interval);
  const std::span<const double> settled = energies.last((energies.size() + 1) / 2);
  if (settled.size() > 1) {
    const IntegratedCovariance covariance = integrated_covariance(settled);
    if (covariance.variance > 0) steps *= covariance.sum / covariance.variance;
  }
  const double unit = std::pow(kDigits, std::floor(std::log10(steps)) - 1);
  const auto rounded = static_cast<std::uint64_t>(std::round(steps / unit) * unit);
  return std::clamp(rounded, std::min(kShortestBlock, most), std::max<std::uint64_t>(most, 1));
}

}  // namespace starpmc
