#include "sampling/error_sum.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace starpmc {
namespace {

constexpr double kBinsPerOctave = 16;
constexpr double kNegligiblePairs = 1e-9;
/// Six standard deviations: 6^2 / 2.
constexpr double kExponent = 18;

double error_of(int bin) { return std::exp2(bin / kBinsPerOctave); }

struct Bin {
  double pairs;
  double error;
};

/// (K(x) + 18) / x: a bound for every x.
double bound_at(const std::vector<Bin>& bins, double x) {
  double sum = kExponent;
  for (const Bin& bin : bins) {
    const double half = std::sinh(0.5 * x * bin.error);
    sum += 2 * bin.pairs * half * half;
  }
  return sum / x;
}

}  // namespace

void ErrorSum::add(double pairs, double difference) {
  if (difference == 0 || pairs == 0) return;
  if (!std::isfinite(difference)) {
    unbounded_ += pairs;
  } else {
    pairs_[static_cast<int>(std::ceil(std::log2(difference) * kBinsPerOctave))] += pairs;
  }
}

double ErrorSum::bound() const {
  if (unbounded_ > kNegligiblePairs) return std::numeric_limits<double>::infinity();
  std::vector<Bin> bins;
  double left_out = unbounded_;
  double variance = 0;
  for (const auto& [bin, pairs] : pairs_) {
    if (bins.empty() && left_out + pairs <= kNegligiblePairs) {
      left_out += pairs;
      continue;
    }
    bins.push_back({pairs, error_of(bin)});
    variance += bins.back().pairs * bins.back().error * bins.back().error;
  }
  if (bins.empty()) return 0;
  // The best x is at most that of a Gaussian; any is as proven, so the search need not be exact.
  double high = std::log(2 * std::sqrt(2 * kExponent / variance));
  double low = high - std::log(1e6);
  for (int i = 0; i < 60; ++i) {
    const double third = (high - low) / 3;
    if (bound_at(bins, std::exp(low + third)) < bound_at(bins, std::exp(high - third))) {
      high -= third;
    } else {
      low += third;
    }
  }
  return bound_at(bins, std::exp(0.5 * (low + high)));
}

}  // namespace starpmc
