#include "analysis/integrated_covariance.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

namespace starpmc {
namespace {

constexpr double kWindowInCorrelationTimes = 5;
constexpr std::size_t kFewestForAWindow = 6;

/// Autocovariance at distance t, about the series' own mean.
double covariance(std::span<const double> deviations, std::size_t t) {
  const auto later = deviations.subspan(t);
  return std::inner_product(later.begin(), later.end(), deviations.begin(), 0.0) /
         static_cast<double>(later.size());
}

/// (1 + r) / (1 - r) with r the correlation of neighbours, corrected for its bias.
double inefficiency_if_exponential(double observed_correlation, double n) {
  const double corrected = (n * observed_correlation + 1) / (n - 3);
  // Twice the length of the series is the longest correlation it is believed to have.
  const double r = std::clamp(corrected, 0.0, 1 - 0.5 / n);
  return (1 + r) / (1 - r);
}

}  // namespace

IntegratedCovariance integrated_covariance(std::span<const double> series) {
  const auto n = static_cast<double>(series.size());
  const double mean = std::accumulate(series.begin(), series.end(), 0.0) / n;
  std::vector<double> deviations(series.begin(), series.end());
  for (double& value : deviations) value -= mean;
  const double observed_variance = covariance(deviations, 0);
  IntegratedCovariance result;
  result.variance = result.sum = observed_variance * n / (n - 1);
  result.degrees_of_freedom = n - 1;
  if (series.size() < kFewestForAWindow || observed_variance == 0) return result;

  double observed_sum = observed_variance;
  double neighbours = 0;
  for (std::size_t window = 1; window <= series.size() / 3 && !result.window_closed; ++window) {
    const double next = covariance(deviations, window);
    if (window == 1) neighbours = next / observed_variance;
    observed_sum += 2 * next;
    const double length = 2 * static_cast<double>(window) + 1;
    result.window = window;
    result.sum = observed_sum / (1 - length / n);
    result.variance = observed_variance + result.sum / n;
    result.degrees_of_freedom = n / length;
    result.window_closed =
        static_cast<double>(window) * 2 * result.variance >= kWindowInCorrelationTimes * result.sum;
  }
  result.variance = std::max(result.variance, observed_variance);
  result.sum = std::max(result.sum, result.variance);
  if (!result.window_closed) {
    result.sum = std::max(result.sum, result.variance * inefficiency_if_exponential(neighbours, n));
  }
  return result;
}

double student_factor(double degrees_of_freedom) {
  constexpr double kOneDeviation = 0.8413447460685429;  // of the normal distribution
  return quantile(boost::math::students_t(degrees_of_freedom), kOneDeviation);
}

double upper_variance_factor(double degrees_of_freedom) {
  return degrees_of_freedom / quantile(boost::math::chi_squared(degrees_of_freedom), 0.01);
}

}  // namespace starpmc
