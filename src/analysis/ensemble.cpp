#include "analysis/ensemble.hpp"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/integrated_covariance.hpp"
#include "analysis/state_document.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kMostSegments = 64;

/// Without an expected number of samples, the length doubles whenever all segments are full.
std::uint64_t segment_length(std::uint64_t expected_samples, std::uint64_t count) {
  if (expected_samples > 0) return std::max<std::uint64_t>(1, expected_samples / 2);
  return count == 0 ? 1 : std::bit_ceil((count - 1) / kMostSegments + 1);
}

void merge_pairs(std::vector<SeriesMoments>& segments) {
  for (std::size_t i = 0; i < segments.size() / 2; ++i) {
    SeriesMoments pair = segments[2 * i];
    pair.add(segments[2 * i + 1]);
    segments[i] = pair;
  }
  segments.resize(segments.size() / 2);
}

SeriesMoments together(std::span<const SeriesMoments> series) {
  SeriesMoments all;
  for (const SeriesMoments& part : series) all.add(part);
  return all;
}

/// sum_j n_j (m_j - m)^2, exactly zero if all means are equal.
double spread_of_means(std::span<const SeriesMoments> series) {
  SeriesMoments means;
  for (const SeriesMoments& one : series) means.add(SeriesMoments{one.count, one.mean, 0});
  return means.squared_deviations;
}

}  // namespace

ChainStatistics::ChainStatistics(std::uint64_t expected_samples)
    : expected_samples_(expected_samples), segment_length_(segment_length(expected_samples, 0)) {}

void ChainStatistics::add(double sample) {
  average_.add(sample);
  const bool full = segments_.empty() || segments_.back().count == segment_length_;
  const bool second_half = expected_samples_ > 0 && segments_.size() == 2;
  if (full && !second_half) {
    if (segments_.size() == kMostSegments) {
      merge_pairs(segments_);
      segment_length_ *= 2;
    }
    segments_.emplace_back();
  }
  segments_.back().add(sample);
}

std::array<SeriesMoments, 2> ChainStatistics::halves() const {
  // The whole number of segments nearest to half of the samples, the lower one of two.
  const std::uint64_t nearest =
      expected_samples_ > 0 ? 1 : (count() + segment_length_ - 1) / (2 * segment_length_);
  const std::size_t first = std::min<std::size_t>(nearest, segments_.size());
  const std::span<const SeriesMoments> all(segments_);
  return {together(all.first(first)), together(all.subspan(first))};
}

nlohmann::json ChainStatistics::state() const {
  auto means = nlohmann::json::array();
  auto squared_deviations = nlohmann::json::array();
  for (const SeriesMoments& segment : segments_) {
    means.push_back(segment.mean);
    squared_deviations.push_back(segment.squared_deviations);
  }
  return {{"expected_samples", expected_samples_},
          {"remembers_start", remembers_start_ ? 1 : 0},
          {"average", average_.state()},
          {"segment_mean", std::move(means)},
          {"segment_squared_deviations", std::move(squared_deviations)}};
}

void ChainStatistics::restore(const nlohmann::json& document) {
  const StateDocument values("statistics of a chain", document);
  const std::uint64_t expected_samples = values.count("expected_samples");
  // Checkpoints of earlier versions lack it.
  const bool remembers =
      document.contains("remembers_start") && values.count("remembers_start") != 0;
  BlockAverage average;
  average.restore(values.object("average"));
  // Both numbers of samples fix how many segments there are and how long each is.
  const std::uint64_t count = average.count();
  const std::uint64_t length = segment_length(expected_samples, count);
  std::uint64_t size = count == 0 ? 0 : (count - 1) / length + 1;
  if (expected_samples > 0) size = std::min<std::uint64_t>(size, 2);
  const std::vector<double> means = values.numbers("segment_mean", size);
  const std::vector<double> squared_deviations =
      values.sums_of_squares("segment_squared_deviations", size);
  std::vector<SeriesMoments> segments(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t samples = i + 1 < size ? length : count - i * length;
    segments[i] = {samples, means[i], squared_deviations[i]};
  }
  average_ = std::move(average);
  expected_samples_ = expected_samples;
  remembers_start_ = remembers;
  segment_length_ = length;
  segments_ = std::move(segments);
}

double gelman_rubin(std::span<const SeriesMoments> series) {
  const auto undefined = std::numeric_limits<double>::quiet_NaN();
  if (series.size() < 2) return undefined;
  double samples = 0;
  double squared_lengths = 0;
  double within = 0;  // sums of squares, divided by their degrees of freedom below
  for (const SeriesMoments& one : series) {
    if (one.count < 2) return undefined;
    const auto length = static_cast<double>(one.count);
    samples += length;
    squared_lengths += length * length;
    within += one.squared_deviations;
  }
  const auto number = static_cast<double>(series.size());
  within /= samples - number;
  const double between = spread_of_means(series) / (number - 1);
  const double length = (samples - squared_lengths / samples) / (number - 1);
  return std::sqrt((length - 1) / length + between / (length * within));
}

namespace {

/// Degrees of freedom of a sum of independent estimates of variances.
class SatterthwaiteSum {
 public:
  void add(double variance, double degrees_of_freedom) {
    sum_ += variance;
    if (variance > 0) squares_ += variance * variance / degrees_of_freedom;
  }
  double sum() const { return sum_; }
  double degrees_of_freedom() const { return squares_ > 0 ? sum_ * sum_ / squares_ : 0; }

 private:
  double sum_ = 0;
  double squares_ = 0;
};

/// Probability of a larger F.
double survival_of_f(double f, double above, double below) {
  if (std::isnan(f)) return f;
  if (std::isinf(f) || below <= 0) return 0;
  return cdf(complement(boost::math::fisher_f(above, below), f));
}

}  // namespace

EnsembleEstimate ensemble_average(std::span<const AverageEstimate> chains,
                                  std::span<const SeriesMoments> halves) {
  EnsembleEstimate ensemble;
  ensemble.r_hat = gelman_rubin(halves);
  ensemble.long_enough = true;
  SeriesMoments means;
  for (const AverageEstimate& chain : chains) {
    if (chain.count == 0) continue;
    ++ensemble.chains;
    means.add(SeriesMoments{chain.count, chain.mean, 0});
    ensemble.long_enough &= chain.long_enough && chain.error > 0;
  }
  if (ensemble.chains == 0) return EnsembleEstimate{};
  const auto samples = static_cast<double>(means.count);
  ensemble.count = means.count;
  ensemble.mean = means.mean;

  SatterthwaiteSum within;    // variance of the mean over all samples
  SatterthwaiteSum expected;  // of sum_c n_c (m_c - m)^2
  bool known = true;
  for (const AverageEstimate& chain : chains) {
    if (chain.count == 0) continue;
    known &= chain.count > 1;
    const double share = static_cast<double>(chain.count) / samples;
    const double variance = chain.standard_error * chain.standard_error;
    within.add(share * share * variance, chain.degrees_of_freedom);
    expected.add(share * (1 - share) * samples * variance, chain.degrees_of_freedom);
  }
  if (known) {
    ensemble.degrees_of_freedom = within.degrees_of_freedom();
    ensemble.error_within_chains =
        within.sum() > 0 ? student_factor(ensemble.degrees_of_freedom) * std::sqrt(within.sum())
                         : 0;
  }
  if (ensemble.chains > 1) {
    const double between = ensemble.chains - 1;
    ensemble.error_between_chains =
        student_factor(between) * std::sqrt(means.squared_deviations / (between * samples));
    if (known) {
      ensemble.agreement = survival_of_f(means.squared_deviations / expected.sum(), between,
                                         expected.degrees_of_freedom());
    }
  }
  constexpr double kAgreementToTrustTheErrorWithin = 0.05;
  constexpr unsigned kManyChains = 8;
  if (ensemble.agreement >= kAgreementToTrustTheErrorWithin) {
    ensemble.error = ensemble.chains >= kManyChains && !ensemble.long_enough
                         ? ensemble.error_between_chains
                         : ensemble.error_within_chains;
  } else {
    // fmax leaves out the one that is NaN.
    ensemble.error = std::fmax(ensemble.error_within_chains, ensemble.error_between_chains);
  }
  return ensemble;
}

bool converged(const EnsembleEstimate& estimate, double error_kj_per_mol) {
  return std::isfinite(estimate.error) && estimate.error > 0 &&
         estimate.error <= error_kj_per_mol && estimate.long_enough &&
         estimate.degrees_of_freedom >= kLeastDegreesOfFreedom &&
         !(estimate.r_hat > kPoorGelmanRubin) && !estimate.chains_disagree();
}

}  // namespace starpmc
