#include "analysis/ensemble.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "analysis/integrated_covariance.hpp"
#include "first_order_series.hpp"
#include "reference_series.hpp"

namespace starpmc {
namespace {

EnsembleEstimate ensemble_of(const std::vector<ChainStatistics>& chains) {
  std::vector<AverageEstimate> averages;
  std::vector<SeriesMoments> halves;
  for (const ChainStatistics& chain : chains) {
    averages.push_back(chain.estimate());
    for (const SeriesMoments& half : chain.halves()) halves.push_back(half);
  }
  return ensemble_average(averages, halves);
}

struct Reference {
  std::vector<std::size_t> lengths;
  double offset;  ///< of each chain from the one before
  double mean, error_within_chains, error_between_chains, agreement, r_hat, degrees_of_freedom;
};

class AgainstNumpy : public testing::TestWithParam<Reference> {};

TEST_P(AgainstNumpy, EverythingAgrees) {
  const Reference& reference = GetParam();
  std::vector<ChainStatistics> chains;
  for (std::size_t length : reference.lengths) {
    chains.emplace_back(length);
    for (double sample :
         reference_series(static_cast<unsigned>(chains.size() - 1), length, reference.offset)) {
      chains.back().add(sample);
    }
  }
  const EnsembleEstimate ensemble = ensemble_of(chains);
  EXPECT_NEAR(ensemble.mean, reference.mean, 1e-10);
  EXPECT_NEAR(ensemble.error_within_chains / reference.error_within_chains, 1, 1e-9);
  EXPECT_NEAR(ensemble.error_between_chains / reference.error_between_chains, 1, 1e-9);
  EXPECT_NEAR(ensemble.agreement / reference.agreement, 1, 1e-6);
  EXPECT_NEAR(ensemble.r_hat / reference.r_hat, 1, 1e-9);
  EXPECT_NEAR(ensemble.degrees_of_freedom / reference.degrees_of_freedom, 1, 1e-9);
  EXPECT_EQ(ensemble.chains_disagree(), reference.agreement < 0.01);
  EXPECT_EQ(ensemble.error, ensemble.chains_disagree() ? ensemble.error_between_chains
                                                       : ensemble.error_within_chains);
  EXPECT_EQ(ensemble.chains, reference.lengths.size());
  EXPECT_EQ(ensemble.count,
            std::accumulate(reference.lengths.begin(), reference.lengths.end(), std::size_t{0}));
}

// What reference_ensemble.py, beside this file, prints.
INSTANTIATE_TEST_SUITE_P(All, AgainstNumpy,
                         testing::Values(Reference{{4096, 4096, 4096},
                                                   0.1,
                                                   -999.4004539544072,
                                                   0.002725712641200514,
                                                   0.07410117832095288,
                                                   5.151709688068597e-34,
                                                   1.5959465351871736,
                                                   54.206142650934076},
                                         Reference{{5000, 3001, 4100, 2000},
                                                   0.1,
                                                   -999.3789877445249,
                                                   0.0026354024634134255,
                                                   0.07384036816604345,
                                                   1.280826383020175e-38,
                                                   1.9279323813455334,
                                                   68.8870492056994},
                                         Reference{{4096, 4096, 4096},
                                                   0.002,
                                                   -999.4984539544072,
                                                   0.002725712641200478,
                                                   0.0017921959394585818,
                                                   0.7779394103969969,
                                                   1.0089968063539654,
                                                   54.206142650939924},
                                         Reference{{5000, 3001, 4100, 2000},
                                                   0.002,
                                                   -999.498532315832,
                                                   0.0026354024634136154,
                                                   0.0018300894879697048,
                                                   0.8239164664854052,
                                                   1.0126963906976647,
                                                   68.88704920569494}));

TEST(GelmanRubin, ByHand) {
  // Two series of three: W = 1, B/n = 2 / 1 = 2, R-hat^2 = 2/3 + 2.
  const SeriesMoments series[] = {{3, 0, 2}, {3, 2, 2}};
  EXPECT_DOUBLE_EQ(gelman_rubin(series), std::sqrt(2.0 / 3 + 2));
}

TEST(GelmanRubin, UndefinedWithoutEnoughSamples) {
  const SeriesMoments series[] = {{3, 0, 2}, {1, 2, 0}, {2, 0, 1}};
  EXPECT_TRUE(std::isnan(gelman_rubin({})));
  EXPECT_TRUE(std::isnan(gelman_rubin(std::span(series, 1))));
  EXPECT_TRUE(std::isnan(gelman_rubin(std::span(series, 2))));
  EXPECT_TRUE(std::isnan(gelman_rubin(series)));
  const SeriesMoments two_each[] = {{2, 0, 1}, {2, 1, 1}};
  EXPECT_TRUE(std::isfinite(gelman_rubin(two_each)));
}

TEST(GelmanRubin, ConstantSeries) {
  const SeriesMoments equal[] = {{3, -1234.567, 0}, {7, -1234.567, 0}, {11, -1234.567, 0}};
  EXPECT_TRUE(std::isnan(gelman_rubin(equal)));
  const SeriesMoments apart[] = {{3, -1234.567, 0}, {3, -1234.5, 0}};
  EXPECT_EQ(gelman_rubin(apart), std::numeric_limits<double>::infinity());
}

/// Chains with standard deviation 1 around the given means.
std::vector<ChainStatistics> chains_around(std::span<const double> means, int samples,
                                           unsigned seed, double phi = 0.9,
                                           std::uint64_t expected = 0) {
  std::vector<ChainStatistics> chains;
  for (double mean : means) {
    FirstOrderSeries values(phi, seed + static_cast<unsigned>(chains.size()));
    chains.emplace_back(expected);
    for (int i = 0; i < samples; ++i) chains.back().add(mean + values.next());
  }
  return chains;
}

TEST(GelmanRubin, NearOneForEqualDistributions) {
  for (unsigned seed = 100; seed < 2000; seed += 100) {
    for (std::uint64_t expected : {0U, 20000U}) {
      const std::vector<double> means(4, -20000);
      const double r_hat = ensemble_of(chains_around(means, 20000, seed, 0.9, expected)).r_hat;
      EXPECT_LT(r_hat, 1.02);
      EXPECT_GT(r_hat, 0.99);
    }
  }
}

TEST(GelmanRubin, LargeForChainsStuckApart) {
  for (unsigned seed = 100; seed < 1000; seed += 100) {
    const double means[] = {-20000, -20000, -20003, -20000};
    const EnsembleEstimate ensemble = ensemble_of(chains_around(means, 20000, seed));
    EXPECT_GT(ensemble.r_hat, 1.5);
    EXPECT_GT(ensemble.error, 10 * ensemble.error_within_chains);
    EXPECT_NEAR(ensemble.error / student_factor(3), 0.75, 0.1);  // three at 0, one at -3
    EXPECT_TRUE(ensemble.chains_disagree());
  }
}

TEST(GelmanRubin, SeesADriftOfOneChain) {
  ChainStatistics chain;
  FirstOrderSeries values(0.5, 3);
  for (int i = 0; i < 20000; ++i) chain.add(values.next() + i * 3e-4);
  EXPECT_GT(gelman_rubin(chain.halves()), 1.5);
}

TEST(EnsembleAverage, WithoutChains) {
  const AverageEstimate empty[3] = {};
  for (std::size_t number : {0U, 3U}) {
    const EnsembleEstimate ensemble = ensemble_average(std::span(empty, number));
    EXPECT_EQ(ensemble.chains, 0U);
    EXPECT_EQ(ensemble.count, 0U);
    EXPECT_TRUE(std::isnan(ensemble.error));
    EXPECT_FALSE(ensemble.long_enough);
    EXPECT_FALSE(converged(ensemble, 1e9));
  }
}

/// A chain of independent samples.
AverageEstimate estimate(double mean, double standard_error, std::uint64_t count,
                         bool long_enough = true) {
  AverageEstimate chain;
  chain.mean = mean;
  chain.standard_error = standard_error;
  chain.error = 1.05 * standard_error;
  chain.count = count;
  chain.degrees_of_freedom = 50;
  chain.long_enough = long_enough;
  return chain;
}

TEST(EnsembleAverage, OneChain) {
  const AverageEstimate chains[] = {estimate(-12.5, 0.25, 1000), AverageEstimate{}};
  const EnsembleEstimate ensemble = ensemble_average(chains);
  EXPECT_EQ(ensemble.mean, -12.5);
  EXPECT_NEAR(ensemble.error_within_chains, 0.25 * 1.0102, 1e-4);  // of 50 degrees of freedom
  EXPECT_TRUE(std::isnan(ensemble.error_between_chains));
  EXPECT_TRUE(std::isnan(ensemble.agreement));
  EXPECT_FALSE(ensemble.chains_disagree());
  EXPECT_EQ(ensemble.error, ensemble.error_within_chains);
  EXPECT_TRUE(std::isnan(ensemble.r_hat));
  EXPECT_EQ(ensemble.chains, 1U);
  EXPECT_DOUBLE_EQ(ensemble.degrees_of_freedom, 50);
  EXPECT_TRUE(ensemble.long_enough);
}

TEST(EnsembleAverage, WeightsByHand) {
  const AverageEstimate chains[] = {estimate(1, 0.4, 300), estimate(5, 0.6, 100)};
  const EnsembleEstimate ensemble = ensemble_average(chains);
  EXPECT_DOUBLE_EQ(ensemble.mean, 2);
  // a_c = 0.3^2, 0.15^2: (0.09 + 0.0225)^2 / ((0.09^2 + 0.0225^2) / 50)
  EXPECT_NEAR(ensemble.degrees_of_freedom, 73.529, 1e-3);
  EXPECT_NEAR(ensemble.error_within_chains, 1.0069 * std::hypot(0.75 * 0.4, 0.25 * 0.6), 1e-4);
  // (300 * 1 + 100 * 9) / (1 * 400), one degree of freedom
  EXPECT_NEAR(ensemble.error_between_chains, 1.8373 * std::sqrt(3), 1e-3);
  EXPECT_EQ(ensemble.error, ensemble.error_between_chains);
  EXPECT_TRUE(ensemble.chains_disagree());
}

TEST(EnsembleAverage, BelievesTheErrorWithinChainsThatAgree) {
  const AverageEstimate close[] = {estimate(1, 0.5, 100), estimate(1.6, 0.5, 100)};
  const EnsembleEstimate ensemble = ensemble_average(close);
  // F = 0.6^2 / (2 * 0.5^2) = 0.72, a square of Student's t with 100 degrees of freedom.
  EXPECT_NEAR(ensemble.agreement, 0.398, 1e-3);
  EXPECT_GT(ensemble.error_between_chains, ensemble.error_within_chains);
  EXPECT_EQ(ensemble.error, ensemble.error_within_chains);
}

TEST(EnsembleAverage, AChainWithoutError) {
  const AverageEstimate good = estimate(1, 0.4, 300);
  const AverageEstimate single = estimate(2, 0, 1, false);
  const AverageEstimate stuck = estimate(2, 0, 300);
  const AverageEstimate drifting = estimate(2, 0.4, 300, false);
  for (const AverageEstimate& other : {single, stuck, drifting}) {
    const AverageEstimate chains[] = {good, other, good};
    const EnsembleEstimate ensemble = ensemble_average(chains);
    EXPECT_FALSE(ensemble.long_enough);
    EXPECT_EQ(std::isnan(ensemble.error_within_chains), other.count == 1);
    EXPECT_TRUE(std::isfinite(ensemble.error));
    EXPECT_FALSE(converged(ensemble, 1e9));
  }
}

TEST(EnsembleAverage, ChainsStuckAtDifferentEnergiesDisagree) {
  const AverageEstimate chains[] = {estimate(1, 0, 300), estimate(2, 0, 300)};
  EXPECT_EQ(ensemble_average(chains).agreement, 0);
  const AverageEstimate equal[] = {estimate(1, 0, 300), estimate(1, 0, 300)};
  EXPECT_TRUE(std::isnan(ensemble_average(equal).agreement));
}

TEST(EnsembleAverage, ErrorCoversTheTruth) {
  constexpr int replicas = 1000;
  for (const std::size_t number : {2U, 4U, 16U}) {
    const std::vector<double> means(number, -20000);
    int covered_within = 0;
    int covered_between = 0;
    int covered = 0;
    int disagree = 0;
    double mean_square_between = 0;
    for (int replica = 0; replica < replicas; ++replica) {
      const auto seed = static_cast<unsigned>(20 * replica);
      const EnsembleEstimate ensemble = ensemble_of(chains_around(means, 4096, seed));
      const double off = std::abs(ensemble.mean + 20000);
      covered_within += off < ensemble.error_within_chains;
      covered_between += off < ensemble.error_between_chains;
      covered += off < ensemble.error;
      disagree += ensemble.chains_disagree();
      const auto freedom = static_cast<double>(number - 1);
      mean_square_between +=
          std::pow(ensemble.error_between_chains / student_factor(freedom), 2) / replicas;
    }
    std::printf("%zu chains: within %.1f %%, between %.1f %%, error %.1f %%; %.1f %% disagree\n",
                number, covered_within / 10.0, covered_between / 10.0, covered / 10.0,
                disagree / 10.0);
    for (const int share : {covered_within, covered_between, covered}) {
      EXPECT_GE(share, 0.60 * replicas);
      EXPECT_LE(share, 0.75 * replicas);
    }
    EXPECT_LE(disagree, 0.025 * replicas);  // 1 % of a true F distribution
    // The variance between chains has no bias: (1 + phi) / (1 - phi) / N for long series.
    const double exact = 19.0 / (static_cast<double>(number) * 4096);
    EXPECT_NEAR(mean_square_between / exact, 1, 0.15);  // standard deviation sqrt(2/1000) = 0.045
  }
}

/// As at the ends of a few blocks of each.
TEST(EnsembleAverage, ErrorOfManyShortChainsCoversTheTruth) {
  constexpr int replicas = 1000;
  const std::vector<double> means(16, -20000);
  int covered = 0;
  double mean_square_error = 0;
  double mean_square_off = 0;
  for (int replica = 0; replica < replicas; ++replica) {
    const auto seed = static_cast<unsigned>(20 * replica);
    const EnsembleEstimate ensemble = ensemble_of(chains_around(means, 20, seed));
    const double off = ensemble.mean + 20000;
    covered += std::abs(off) < ensemble.error;
    mean_square_error += ensemble.error * ensemble.error / replicas;
    mean_square_off += off * off / replicas;
    EXPECT_FALSE(ensemble.long_enough);
  }
  std::printf("%.1f %% covered, error %.2f, off by %.2f\n", covered / 10.0,
              std::sqrt(mean_square_error), std::sqrt(mean_square_off));
  EXPECT_GE(covered, 0.60 * replicas);
  EXPECT_LE(covered, 0.75 * replicas);
  EXPECT_NEAR(std::sqrt(mean_square_error / mean_square_off), 1, 0.15);
}

EnsembleEstimate good_estimate() {
  EnsembleEstimate estimate;
  estimate.error_within_chains = estimate.error = 0.5;
  estimate.r_hat = 1.01;
  estimate.count = 1000;
  estimate.chains = 1;
  estimate.agreement = 0.3;
  estimate.degrees_of_freedom = 32;
  estimate.long_enough = true;
  return estimate;
}

TEST(Converged, NeedsEverythingTheRuleSays) {
  EXPECT_TRUE(converged(good_estimate(), 0.5));
  EXPECT_FALSE(converged(good_estimate(), 0.499));
  EXPECT_FALSE(converged(good_estimate(), std::nan("")));
  const auto with = [](auto&& change) {
    EnsembleEstimate estimate = good_estimate();
    change(estimate);
    return converged(estimate, 0.5);
  };
  EXPECT_FALSE(with([](auto& it) { it.degrees_of_freedom = 31; }));
  EXPECT_FALSE(with([](auto& it) { it.long_enough = false; }));
  EXPECT_FALSE(with([](auto& it) { it.agreement = 0.009; }));
  EXPECT_TRUE(with([](auto& it) { it.agreement = std::nan(""); }));
  EXPECT_FALSE(with([](auto& it) { it.error = 0; }));
  EXPECT_FALSE(with([](auto& it) { it.error = 0.6; }));  // between chains
  EXPECT_FALSE(with([](auto& it) { it.error = std::nan(""); }));
  EXPECT_FALSE(with([](auto& it) { it.r_hat = 1.11; }));
  EXPECT_FALSE(with([](auto& it) { it.r_hat = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(with([](auto& it) { it.r_hat = 1.1; }));
  EXPECT_TRUE(with([](auto& it) { it.r_hat = std::nan(""); }));
  EnsembleEstimate endless = good_estimate();
  endless.error = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(converged(endless, endless.error));
}

/// Steps until converged, looked at every 20 samples, about a correlation time; then whether the
/// truth is within two errors.
bool covered_when_stopped(unsigned number_of_chains, double limit, unsigned seed) {
  std::vector<FirstOrderSeries> series;
  std::vector<ChainStatistics> chains(number_of_chains);
  for (unsigned c = 0; c < number_of_chains; ++c) series.emplace_back(0.9, seed + c);
  for (int samples = 1;; ++samples) {
    for (unsigned c = 0; c < number_of_chains; ++c) chains[c].add(series[c].next());
    if (samples % 20 != 0) continue;
    const EnsembleEstimate ensemble = ensemble_of(chains);
    if (converged(ensemble, limit)) return std::abs(ensemble.mean) < 2 * ensemble.error;
  }
}

TEST(Converged, StopsOnlyWhenTheErrorIsRight) {
  constexpr int replicas = 300;
  for (const double limit : {0.3, 0.1}) {
    for (unsigned number_of_chains : {1U, 4U}) {
      int covered = 0;
      for (int replica = 0; replica < replicas; ++replica)
        covered += covered_when_stopped(number_of_chains, limit,
                                        1000 + 10 * static_cast<unsigned>(replica));
      EXPECT_GT(covered, 0.92 * replicas) << number_of_chains << " chains to " << limit;
    }
  }
}

}  // namespace
}  // namespace starpmc
