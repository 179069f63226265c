#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/series_moments.hpp"

namespace starpmc {

/// Mean of a correlated series and how well it is known.
struct AverageEstimate {
  double mean = 0;
  double error = 0;                     ///< standard error of the mean, correlation included
  double statistical_inefficiency = 1;  ///< (error / error of an uncorrelated series)^2
  std::uint64_t count = 0;              ///< samples
  std::uint64_t block_length = 1;       ///< samples per block the error was read at
  /// False if no block length met the plateau rule (series too short for its correlation): the
  /// error is then the largest found, a lower bound.
  bool plateau_reached = false;
};

/// Running average of a correlated series with the blocking error of Flyvbjerg and Petersen,
/// J. Chem. Phys. 91, 461 (1989). Memory grows with the logarithm of the number of samples.
///
/// Plateau: the smallest block length B with B^3 > 2 n (e_B / e_1)^4, n the number of samples and
/// e_B the error from blocks of length B, which balances bias and noise of the error (Wolff,
/// Comput. Phys. Commun. 156, 143 (2004); Lee et al., Phys. Rev. E 83, 066706 (2011)).
class BlockAverage {
 public:
  void add(double sample);
  AverageEstimate estimate() const;

  std::uint64_t count() const { return levels_.empty() ? 0 : levels_.front().moments.count; }

  /// All there is to it: restored from this, another BlockAverage goes on with the same bits.
  nlohmann::json state() const;
  /// Takes the place of what was here.
  /// @throws RunError naming the key and what is wrong with it; nothing has changed then
  void restore(const nlohmann::json& document);

 private:
  /// Blocks of length 2^level.
  struct Level {
    SeriesMoments moments;
    double pending = 0;  ///< first half of a block of the next level
    bool has_pending = false;
  };
  std::vector<Level> levels_;
};

}  // namespace starpmc
