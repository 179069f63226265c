#pragma once

#include <cstdint>

#include "analysis/block_average.hpp"

namespace starpmc {

/// How much of the beginning of a series is better left out of its average.
struct Equilibration {
  double share = 0;  ///< of the samples; at most a half
  double effective_samples_from_there = 0;
  double effective_samples_of_all = 0;
  double mean_from_there = 0;

  /// Worth a warning: more than a fifth, and without it half as many effective samples again. Of
  /// stationary first-order series with 50 effective samples 4 % come this far, with 200 and more
  /// none.
  bool is_late() const {
    return share > 0.2 && effective_samples_from_there > 1.5 * effective_samples_of_all;
  }
  /// The series has relaxed, and been at rest for at least as long as that took and for
  /// kEffectiveSamplesAtRest. While it relaxes as a whole, the best start is its middle.
  bool is_reached() const {
    return share < 0.5 && effective_samples_from_there >= kEffectiveSamplesAtRest;
  }
  static constexpr double kEffectiveSamplesAtRest = 20;
};

/// The start that leaves the most effective samples: J. D. Chodera, J. Chem. Theory Comput. 12,
/// 1799 (2016). Starts are multiples of a twentieth of the series, the last one its middle; of a
/// series of fewer than 20 samples it is the first.
Equilibration detect_equilibration(const BlockAverage& series);

}  // namespace starpmc
