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
  /// Whether the mean of what is left out differs from that of the rest by more than one series in
  /// fifty would, did it only fluctuate (Student's t, two-sided 2 %).
  bool stands_out = false;

  /// Worth a warning: it stands out, is more than a fifth, and without it there are half as many
  /// effective samples again. Of stationary first-order series with 5 to 10 effective samples 4 %
  /// come this far, with 50 one per cent, with 200 and more none.
  bool is_late() const {
    return stands_out && share > 0.2 &&
           effective_samples_from_there > 1.5 * effective_samples_of_all;
  }
};

/// The start that leaves the most effective samples: J. D. Chodera, J. Chem. Theory Comput. 12,
/// 1799 (2016). Starts are multiples of a twentieth of the series, the last one its middle; of a
/// series of fewer than 20 samples it is the first.
Equilibration detect_equilibration(const BlockAverage& series);

/// Whether a series has come to rest, for at least as long as that took: its detected equilibration
/// ends before its middle; from there on it has kEffectiveSamplesAtRest, less two standard
/// deviations of the estimate of the inefficiency; and the straight line through that part rises or
/// falls over its length by at most two standard errors, correlation included. Made of correctly
/// rounded operations only, in an order of their own: the same answer on every machine.
bool is_at_rest(const BlockAverage& series);

inline constexpr double kEffectiveSamplesAtRest = 10;

}  // namespace starpmc
