#include "analysis/ensemble.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "error.hpp"
#include "first_order_series.hpp"

namespace starpmc {
namespace {

SeriesMoments moments_of(std::span<const double> samples) {
  SeriesMoments moments;
  for (double sample : samples) moments.add(sample);
  return moments;
}

EnsembleEstimate ensemble_of(const std::vector<ChainStatistics>& chains) {
  std::vector<AverageEstimate> averages;
  std::vector<SeriesMoments> halves;
  for (const ChainStatistics& chain : chains) {
    averages.push_back(chain.estimate());
    for (const SeriesMoments& half : chain.halves()) halves.push_back(half);
  }
  return ensemble_average(averages, halves);
}

/// As series() of reference_ensemble.py.
std::vector<double> reference_series(unsigned chain, std::size_t samples) {
  constexpr std::size_t window = 16;
  std::vector<double> raw(samples + window - 1);
  std::uint64_t value = 12345 + 1000003ULL * chain;
  for (double& number : raw) {
    value = (1103515245 * value + 12345) % (1ULL << 31);
    number = std::ldexp(static_cast<double>(value), -31);
  }
  std::vector<double> series(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const auto first = raw.begin() + static_cast<std::ptrdiff_t>(i);
    series[i] = std::accumulate(first, first + window, 0.0) / window + 0.1 * chain - 1000;
  }
  return series;
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

TEST(SeriesMoments, OfTwoSeriesTogether) {
  const std::vector<double> all = reference_series(0, 100);
  for (std::size_t cut : {0U, 1U, 37U, 99U, 100U}) {
    SeriesMoments first = moments_of(std::span(all).first(cut));
    first.add(moments_of(std::span(all).subspan(cut)));
    EXPECT_EQ(first.count, 100U);
    EXPECT_NEAR(first.mean, moments_of(all).mean, 1e-10);
    EXPECT_NEAR(first.squared_deviations / moments_of(all).squared_deviations, 1, 1e-9);
  }
  EXPECT_EQ(moments_of(std::vector<double>{1, 2, 6}).variance(), 7);
  EXPECT_TRUE(std::isnan(moments_of(std::vector<double>{1}).variance()));
}

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

TEST(ChainStatistics, HalvesOfAKnownNumberOfSamples) {
  for (std::size_t expected : {2U, 3U, 10U, 101U, 1000U}) {
    const std::vector<double> samples = reference_series(1, expected + 70);
    for (std::size_t count : {expected / 2, expected, expected + 70}) {
      ChainStatistics chain(expected);
      for (std::size_t i = 0; i < count; ++i) chain.add(samples[i]);
      const auto [first, second] = chain.halves();
      EXPECT_EQ(first.count, expected / 2);
      EXPECT_EQ(second.count, count - expected / 2);
      const std::span<const double> all(samples);
      EXPECT_EQ(first.mean, moments_of(all.first(expected / 2)).mean);
      const SeriesMoments rest = moments_of(all.subspan(expected / 2, count - expected / 2));
      EXPECT_EQ(second.mean, rest.mean);
      EXPECT_EQ(second.squared_deviations, rest.squared_deviations);
    }
  }
}

TEST(ChainStatistics, HalvesOfAnUnknownNumberOfSamples) {
  const std::vector<double> samples = reference_series(2, 3000);
  const std::span<const double> all(samples);
  ChainStatistics chain;
  for (std::size_t count = 0; count <= samples.size(); ++count) {
    const auto [first, second] = chain.halves();
    ASSERT_EQ(first.count + second.count, count);
    if (count <= 64) {
      ASSERT_EQ(first.count, count / 2);
    }
    ASSERT_LE(std::abs(static_cast<double>(first.count) - static_cast<double>(count) / 2),
              std::max(0.5, static_cast<double>(count) / 64));
    const SeriesMoments expected = moments_of(all.first(first.count));
    const SeriesMoments rest = moments_of(all.subspan(first.count, second.count));
    ASSERT_NEAR(first.mean, expected.mean, 1e-9);
    ASSERT_NEAR(first.squared_deviations, expected.squared_deviations, 1e-9);
    ASSERT_NEAR(second.mean, rest.mean, 1e-9);
    ASSERT_NEAR(second.squared_deviations, rest.squared_deviations, 1e-9);
    if (count < samples.size()) chain.add(samples[count]);
  }
  EXPECT_LE(chain.state().at("segment_mean").size(), 64U);
}

TEST(ChainStatistics, GoesOnFromItsStateWithTheSameBits) {
  constexpr std::uint64_t samples = 2000;
  std::mt19937 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint64_t expected = std::vector<std::uint64_t>{0, 1, samples, 777}[trial % 4];
    const std::uint64_t cut =
        trial < 12 ? static_cast<std::uint64_t>(trial) / 4
                   : std::uniform_int_distribution<std::uint64_t>(0, samples - 1)(random);
    FirstOrderSeries values(0.9, static_cast<unsigned>(trial));
    ChainStatistics uninterrupted(expected);
    ChainStatistics resumed(5);
    resumed.add(1e6);
    for (std::uint64_t i = 0; i < samples; ++i) {
      if (i == cut) {
        const auto bytes = nlohmann::json::to_cbor(uninterrupted.state());
        resumed.restore(nlohmann::json::from_cbor(bytes));
      }
      const double sample = -20000 + values.next();
      uninterrupted.add(sample);
      if (i >= cut) resumed.add(sample);
      if (i < cut) continue;
      const auto halves = uninterrupted.halves();
      const auto resumed_halves = resumed.halves();
      for (std::size_t half : {0U, 1U}) {
        ASSERT_EQ(halves[half].count, resumed_halves[half].count);
        ASSERT_EQ(std::bit_cast<std::uint64_t>(halves[half].mean),
                  std::bit_cast<std::uint64_t>(resumed_halves[half].mean));
        ASSERT_EQ(std::bit_cast<std::uint64_t>(halves[half].squared_deviations),
                  std::bit_cast<std::uint64_t>(resumed_halves[half].squared_deviations));
      }
    }
    EXPECT_EQ(uninterrupted.state(), resumed.state());
    EXPECT_EQ(uninterrupted.estimate().error, resumed.estimate().error);
    EXPECT_EQ(uninterrupted.count(), resumed.count());
  }
}

/// What restore() says of a document, or nothing.
std::string refusal(const nlohmann::json& document) {
  ChainStatistics chain(8);
  for (int i = 0; i < 6; ++i) chain.add(i);
  const nlohmann::json before = chain.state();
  try {
    chain.restore(document);
  } catch (const RunError& error) {
    EXPECT_EQ(chain.state(), before);
    return error.what();
  }
  return "";
}

TEST(ChainStatistics, RefusesAStateThatIsNotOne) {
  ChainStatistics chain;
  for (int i = 0; i < 70; ++i) chain.add(i);  // 35 segments of two samples
  const nlohmann::json good = chain.state();
  EXPECT_EQ(refusal(good), "");
  const std::string start = "saved state of the statistics of a chain: ";
  EXPECT_EQ(refusal("none"), start + "should be an object with its values, not string");
  for (const char* key :
       {"expected_samples", "average", "segment_mean", "segment_squared_deviations"}) {
    nlohmann::json document = good;
    document.erase(key);
    EXPECT_EQ(refusal(document), start + "'" + key + "' is missing");
  }
  const auto with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json document = good;
    document[key] = value;
    return refusal(document);
  };
  EXPECT_EQ(with("average", 3), start + "'average' should be an object, not 3");
  EXPECT_EQ(with("average", nlohmann::json::object()),
            "saved state of the block average: 'count' is missing");
  EXPECT_EQ(with("expected_samples", 70),
            start + "'segment_mean' should be an array of 2, not an array of 35");
  EXPECT_EQ(with("expected_samples", true),
            start + "'expected_samples' should be a whole number of at least 0, not true");
  EXPECT_EQ(with("segment_mean", nlohmann::json::array()),
            start + "'segment_mean' should be an array of 35, not an array of 0");
  const std::vector<double> negative(35, -1);
  EXPECT_EQ(with("segment_squared_deviations", negative),
            start + "'segment_squared_deviations[0]' is a sum of squares and cannot be -1");
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
