#include "analysis/ensemble.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

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
  double mean, error_from_blocks, error_between_chains, r_hat;
  std::uint64_t degrees_of_freedom;
};

class AgainstNumpy : public testing::TestWithParam<Reference> {};

TEST_P(AgainstNumpy, EverythingAgrees) {
  const Reference& reference = GetParam();
  std::vector<ChainStatistics> chains;
  for (std::size_t length : reference.lengths) {
    chains.emplace_back(length);
    for (double sample : reference_series(static_cast<unsigned>(chains.size() - 1), length))
      chains.back().add(sample);
  }
  const EnsembleEstimate ensemble = ensemble_of(chains);
  EXPECT_NEAR(ensemble.mean, reference.mean, 1e-10);
  EXPECT_NEAR(ensemble.error_from_blocks / reference.error_from_blocks, 1, 1e-9);
  EXPECT_NEAR(ensemble.error_between_chains / reference.error_between_chains, 1, 1e-9);
  EXPECT_NEAR(ensemble.r_hat / reference.r_hat, 1, 1e-9);
  EXPECT_EQ(ensemble.error, std::max(ensemble.error_from_blocks, ensemble.error_between_chains));
  EXPECT_EQ(ensemble.degrees_of_freedom, reference.degrees_of_freedom);
  EXPECT_EQ(ensemble.chains, reference.lengths.size());
  EXPECT_EQ(ensemble.count,
            std::accumulate(reference.lengths.begin(), reference.lengths.end(), std::size_t{0}));
  EXPECT_TRUE(ensemble.plateaus_reached);
}

// What reference_ensemble.py, beside this file, prints.
INSTANTIATE_TEST_SUITE_P(All, AgainstNumpy,
                         testing::Values(Reference{{4096, 4096, 4096},
                                                   -999.4004539544072,
                                                   0.0027598392958204077,
                                                   0.05608298442047769,
                                                   1.5959465351871736,
                                                   77},
                                         Reference{{5000, 3001, 4100, 2000},
                                                   -999.3789877445249,
                                                   0.0026031945927761507,
                                                   0.06169397484086059,
                                                   1.9279323813455334,
                                                   73}));

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
    EXPECT_GT(ensemble.error, 10 * ensemble.error_from_blocks);
    EXPECT_NEAR(ensemble.error, 0.75, 0.1);  // of three at 0, one at -3: 1.5 / sqrt(4)
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
    EXPECT_FALSE(ensemble.plateaus_reached);
    EXPECT_FALSE(converged(ensemble, 1e9));
  }
}

TEST(EnsembleAverage, OneChain) {
  const AverageEstimate chain{-12.5, 0.25, 10, 1000, 16, true};
  const AverageEstimate chains[] = {chain, AverageEstimate{}};
  const EnsembleEstimate ensemble = ensemble_average(chains);
  EXPECT_EQ(ensemble.mean, -12.5);
  EXPECT_DOUBLE_EQ(ensemble.error_from_blocks, 0.25);
  EXPECT_TRUE(std::isnan(ensemble.error_between_chains));
  EXPECT_EQ(ensemble.error, ensemble.error_from_blocks);
  EXPECT_TRUE(std::isnan(ensemble.r_hat));
  EXPECT_EQ(ensemble.chains, 1U);
  EXPECT_EQ(ensemble.degrees_of_freedom, 61U);  // 62 whole blocks of 16
  EXPECT_TRUE(ensemble.plateaus_reached);
}

TEST(EnsembleAverage, WeightsByHand) {
  const AverageEstimate chains[] = {{1, 0.4, 1, 300, 1, true}, {5, 0.6, 1, 100, 1, true}};
  const EnsembleEstimate ensemble = ensemble_average(chains);
  EXPECT_DOUBLE_EQ(ensemble.mean, 2);
  EXPECT_DOUBLE_EQ(ensemble.error_from_blocks, std::hypot(0.75 * 0.4, 0.25 * 0.6));
  // (300 * 1 + 100 * 9) / (1 * 400)
  EXPECT_DOUBLE_EQ(ensemble.error_between_chains, std::sqrt(3));
  EXPECT_EQ(ensemble.error, ensemble.error_between_chains);
}

TEST(EnsembleAverage, AChainWithoutErrorOrPlateau) {
  const AverageEstimate good{1, 0.4, 1, 300, 1, true};
  const AverageEstimate single{2, 0, 1, 1, 1, false};
  const AverageEstimate stuck{2, 0, 1, 300, 1, true};
  const AverageEstimate drifting{2, 0.4, 1, 300, 1, false};
  for (const AverageEstimate& other : {single, stuck, drifting}) {
    const AverageEstimate chains[] = {good, other, good};
    const EnsembleEstimate ensemble = ensemble_average(chains);
    EXPECT_FALSE(ensemble.plateaus_reached);
    EXPECT_EQ(std::isnan(ensemble.error_from_blocks), other.count == 1);
    EXPECT_TRUE(std::isfinite(ensemble.error));
    EXPECT_FALSE(converged(ensemble, 1e9));
  }
}

TEST(EnsembleAverage, ErrorCoversTheTruth) {
  constexpr int replicas = 1000;
  const std::vector<double> means(4, -20000);
  int covered_by_blocks = 0;
  int covered = 0;
  double mean_square_between = 0;
  for (int replica = 0; replica < replicas; ++replica) {
    const auto seed = static_cast<unsigned>(10 * replica);
    const EnsembleEstimate ensemble = ensemble_of(chains_around(means, 4096, seed));
    const double off = std::abs(ensemble.mean + 20000);
    covered_by_blocks += off < 2 * ensemble.error_from_blocks;
    covered += off < 2 * ensemble.error;
    mean_square_between += std::pow(ensemble.error_between_chains, 2) / replicas;
  }
  // 95.4 % lie within two standard deviations. Blocks of finite length give a few percent less of
  // error; 1000 replicas know the share to within 0.7 %.
  EXPECT_NEAR(covered_by_blocks, 0.945 * replicas, 0.02 * replicas);
  EXPECT_GE(covered, covered_by_blocks);
  EXPECT_NEAR(covered, 0.97 * replicas, 0.02 * replicas);
  // The variance between chains has no bias: (1 + phi) / (1 - phi) / N for long series.
  const double exact = 19.0 / (4 * 4096);
  EXPECT_NEAR(mean_square_between / exact, 1, 0.1);  // standard deviation sqrt(2/3/1000) = 0.026
}

EnsembleEstimate good_estimate() {
  EnsembleEstimate estimate;
  estimate.error_from_blocks = estimate.error = 0.5;
  estimate.r_hat = 1.01;
  estimate.count = 1000;
  estimate.chains = 1;
  estimate.degrees_of_freedom = 32;
  estimate.plateaus_reached = true;
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
  EXPECT_FALSE(with([](auto& it) { it.plateaus_reached = false; }));
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
