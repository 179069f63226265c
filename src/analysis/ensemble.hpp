#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/block_average.hpp"
#include "analysis/series_moments.hpp"

namespace starpmc {

/// What an ensemble needs to know of one chain: the average of its samples with its error, and the
/// moments of their first and second half. Memory is bounded, however many samples there are.
class ChainStatistics {
 public:
  /// @param expected_samples  how many samples there will be: the first expected_samples / 2 are
  ///     the first half, all others the second, and halves() has no second half before that. 0 if
  ///     that is not known beforehand, as in a run that ends when its error is small enough: the
  ///     halves are then those of the samples so far, cut to within 1/64 of them (exactly up to
  ///     64 samples), at the end of one of 33 to 64 segments of equal length.
  explicit ChainStatistics(std::uint64_t expected_samples = 0);

  void add(double sample);

  /// Whether what the chain began with still shows in its samples, so that no error tells how far
  /// their mean is off (exact ensemble). Goes with the samples wherever their state() goes.
  void set_remembers_start(bool remembers) { remembers_start_ = remembers; }
  bool remembers_start() const { return remembers_start_; }

  std::uint64_t count() const { return average_.count(); }
  AverageEstimate estimate() const { return average_.estimate(); }
  /// For detect_equilibration().
  const BlockAverage& average() const { return average_; }
  /// For gelman_rubin(): first and second half.
  std::array<SeriesMoments, 2> halves() const;

  /// Everything, the expected number of samples included: restored from this, another
  /// ChainStatistics goes on with the same bits.
  nlohmann::json state() const;
  /// Takes the place of what was here and of what the constructor was given.
  /// @throws RunError naming the key and what is wrong with it; nothing has changed then
  void restore(const nlohmann::json& document);

 private:
  BlockAverage average_;
  std::uint64_t expected_samples_;
  std::uint64_t segment_length_;  ///< samples of each segment but the last
  std::vector<SeriesMoments> segments_;
  bool remembers_start_ = false;
};

/// Potential scale reduction R-hat: how much wider the distribution of all series together is than
/// that of one; near 1 where all series sample the same distribution (Gelman and Rubin, Stat. Sci.
/// 7, 457 (1992)). Give it the halves of every chain (Gelman et al., Bayesian Data Analysis, 3rd
/// ed., section 11.4): a drift within the chains then shows too, and one chain is enough.
///
/// With M series of n samples each, means m_j, their mean m, and variances s_j^2:
///
///     W = sum_j s_j^2 / M,  B = n sum_j (m_j - m)^2 / (M - 1),
///     R-hat = sqrt(((n - 1)/n W + B/n) / W).
///
/// Series of different lengths n_j (N in all) get the weights of the unbalanced one-way analysis of
/// variance (Searle, Casella and McCulloch, Variance Components, section 3.6), which gives the
/// above for equal ones: m = sum_j n_j m_j / N and
///
///     W = sum_j (n_j - 1) s_j^2 / (N - M),  B = sum_j n_j (m_j - m)^2 / (M - 1),
///     n = (N - sum_j n_j^2 / N) / (M - 1).
///
/// @return R-hat; infinite if every series is constant but they differ; NaN where it is not
///     defined: fewer than two series, a series of fewer than two samples, or all samples equal
double gelman_rubin(std::span<const SeriesMoments> series);

/// Above this (BDA3, section 11.5) the halves' means scatter by more than nearly half of the
/// samples' own standard deviation: either the chains are too short, or they drift or are stuck
/// apart. Which of the two it is, EnsembleEstimate::agreement tells.
inline constexpr double kPoorGelmanRubin = 1.1;

/// Below this the chains are said to disagree: one in a hundred runs of chains that agree.
inline constexpr double kLeastAgreement = 0.01;

/// Mean over the samples of several chains and how well it is known.
struct EnsembleEstimate {
  double mean = 0;
  /// Half-widths of the interval about `mean` that holds the true mean with 68 %.
  double error_within_chains = std::numeric_limits<double>::quiet_NaN();
  double error_between_chains = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();  ///< the one of both to be believed
  /// Probability that chains of one distribution have means as far apart as these: F test.
  double agreement = std::numeric_limits<double>::quiet_NaN();
  double r_hat = std::numeric_limits<double>::quiet_NaN();  ///< gelman_rubin() of the halves
  std::uint64_t count = 0;                                  ///< samples of all chains
  unsigned chains = 0;                                      ///< with at least one sample
  double degrees_of_freedom = 0;                            ///< of error_within_chains
  /// Every chain is long enough for its error, which is above zero: a chain whose samples are all
  /// equal has not moved yet, and its error of zero says nothing.
  bool long_enough = false;

  /// The chains' means are further apart than their errors explain.
  bool chains_disagree() const { return agreement < kLeastAgreement; }
};

/// The mean over C chains of n_c samples (N in all) with means m_c and standard errors e_c,
///
///     m = sum_c n_c m_c / N,
///
/// and its error in two ways. From within the chains, independent of each other,
///
///     e_within = sqrt(sum_c a_c), a_c = (n_c e_c / N)^2,
///
/// which holds if the chains are long enough and each saw all of the distribution; NaN with a chain
/// of one sample, of which no error is known. From the chains' means, as the variance of m_c goes
/// as 1 / n_c,
///
///     e_between = sqrt(sum_c n_c (m_c - m)^2 / ((C - 1) N)),
///
/// the standard deviation of the means over sqrt(C) if all n_c are equal; NaN for one chain. It
/// sees chains that are stuck apart, but is itself poorly known for few chains. Each gets the
/// factor of Student's distribution, with C - 1 degrees of freedom between the chains and, within
/// them, (sum_c a_c)^2 / sum_c (a_c^2 / f_c), f_c those of the chains (F. E. Satterthwaite,
/// Biometrics Bull. 2, 110 (1946)).
///
/// Whether the means are further apart than the chains' own errors explain is asked by Brown's and
/// Forsythe's F test for unequal variances (Technometrics 16, 129 (1974)):
///
///     F = sum_c n_c (m_c - m)^2 / sum_c b_c,  b_c = n_c (1 - n_c / N) e_c^2,
///
/// with C - 1 and (sum_c b_c)^2 / sum_c (b_c^2 / f_c) degrees of freedom.
///
/// `error` is the one from within the chains if `agreement` is 5 % or more, but that between them
/// where there are 8 or more of which some are too short to tell their own; else the larger of
/// those that are known.
///
/// @param chains estimates of each chain; those without samples do not count
/// @param halves of all chains that have samples (ChainStatistics::halves()), for r_hat; without
///     them it is NaN
EnsembleEstimate ensemble_average(std::span<const AverageEstimate> chains,
                                  std::span<const SeriesMoments> halves = {});

/// Least degrees of freedom of an error that may end a run: the error is then known to within
/// 1 / sqrt(2 * 32) = 13 % of itself. Ending a run as soon as its error seems small enough picks
/// the moments when it is too small.
inline constexpr double kLeastDegreesOfFreedom = 32;

/// Whether the mean is known to within an error of error_kj_per_mol (for an ensemble of energies in
/// kJ/mol). So it is if
/// - the error is finite, above zero, and not above error_kj_per_mol;
/// - every chain is long enough for its own error;
/// - there are at least kLeastDegreesOfFreedom degrees of freedom;
/// - R-hat, where it is known, is not above kPoorGelmanRubin; and
/// - the chains do not disagree.
bool converged(const EnsembleEstimate& estimate, double error_kj_per_mol);

}  // namespace starpmc
