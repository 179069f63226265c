#pragma once

#include <cstddef>
#include <span>

namespace starpmc {

/// What a correlated series says of the variance of its mean.
struct IntegratedCovariance {
  /// C(0) + 2 sum_{t=1}^{window} C(t), which over the number of samples is the variance of the
  /// mean; at least `variance`.
  double sum = 0;
  double variance = 0;  ///< C(0), about the true mean
  std::size_t window = 0;
  /// The window closed before a third of the series. If not, the correlation is too long to be
  /// read from this series, and `sum` is the larger of what the longest window gave and what an
  /// exponential correlation of the same C(1) / C(0) would make of it.
  bool window_closed = false;
  /// Of a chi-squared variable that scatters as `sum` does.
  double degrees_of_freedom = 0;
};

/// Autocovariances C(t) of a series, summed up to Sokal's automatic window: the smallest W with
/// W >= 5 tau(W), where tau(W) = 1/2 + sum_{t=1}^W C(t) / C(0) (A. Sokal, in Functional
/// Integration: Basics and Applications, NATO ASI Series B 361, 131 (1997), section 3).
///
/// Deviations are from the mean of the series itself, which makes each C(t) too small by `sum` / n.
/// What is added to make up for it (U. Wolff, Comput. Phys. Commun. 156, 143 (2004), eq. 49) is
/// here solved for rather than taken to first order: sum = sum_observed / (1 - (2W + 1) / n).
/// `sum` is then known to within the fraction sqrt(2 (2W + 1) / n) (ibid., eq. 42), as a
/// chi-squared variable of n / (2W + 1) degrees of freedom.
///
/// Where no window closes, C(1) / C(0) = r, less its bias -(1 + 3 r) / n (M. G. Kendall, Biometrika
/// 41, 403 (1954)), gives a series of exponential correlation with (1 + r) / (1 - r).
///
/// @param series at least two samples at equal distances; with fewer than six, or all of them
///     equal, they are taken as independent and no window closes
IntegratedCovariance integrated_covariance(std::span<const double> series);

/// Half-width in standard errors of the interval that holds 68.27 % of Student's distribution.
double student_factor(double degrees_of_freedom);

/// Upper end of the one-sided 99 % interval of a variance, over its estimate.
double upper_variance_factor(double degrees_of_freedom);

}  // namespace starpmc
