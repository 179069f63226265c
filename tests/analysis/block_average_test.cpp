#include "analysis/block_average.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "first_order_series.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

/// Of many series of one length: how often the true mean, 0, is within one error.
struct Coverage {
  int series = 0;
  int covered = 0;
  int long_enough = 0;
  int covered_and_long_enough = 0;
  double mean_inefficiency = 0;

  void add(const AverageEstimate& estimate) {
    const bool covers = std::abs(estimate.mean - kMean) < estimate.error;
    mean_inefficiency += (estimate.statistical_inefficiency - mean_inefficiency) / ++series;
    covered += covers;
    long_enough += estimate.long_enough;
    covered_and_long_enough += covers && estimate.long_enough;
  }
  double share() const { return static_cast<double>(covered) / series; }
  double share_if_long_enough() const {
    return static_cast<double>(covered_and_long_enough) / long_enough;
  }

  static constexpr double kMean = -20000;
};

/// Estimates at each of `lengths` on the way of `number` series.
template <typename MakeSeries>
std::map<int, Coverage> coverage_of(const std::vector<int>& lengths, int number,
                                    const MakeSeries& make_series) {
  std::map<int, Coverage> found;
  for (int seed = 1; seed <= number; ++seed) {
    auto series = make_series(static_cast<unsigned>(seed));
    BlockAverage average;
    int samples = 0;
    for (int length : lengths) {
      for (; samples < length; ++samples) average.add(Coverage::kMean + series.next());
      found[length].add(average.estimate());
    }
  }
  return found;
}

void print(double phi, double inefficiency, const std::map<int, Coverage>& found) {
  for (const auto& [length, coverage] : found) {
    std::printf("phi %.2f, %7d samples (%8.1f effective): the 68 %% interval covers %.1f %%", phi,
                length, length / inefficiency, 100 * coverage.share());
    if (coverage.long_enough > 0) {
      std::printf(", %.1f %% of the %d long enough", 100 * coverage.share_if_long_enough(),
                  coverage.long_enough);
    }
    std::printf("; inefficiency %.2f of %.2f\n", coverage.mean_inefficiency, inefficiency);
  }
}

class AutoregressiveSeries : public testing::TestWithParam<double> {};

TEST_P(AutoregressiveSeries, TheIntervalCoversTheTruthAtEveryLength) {
  const double phi = GetParam();
  const double inefficiency = (1 + phi) / (1 - phi);
  const auto found = coverage_of({100, 300, 1000, 3000, 10000, 30000, 100000}, 1000,
                                 [phi](unsigned seed) { return FirstOrderSeries(phi, seed); });
  print(phi, inefficiency, found);
  for (const auto& [length, coverage] : found) {
    EXPECT_GE(coverage.share(), 0.60) << length;
    EXPECT_LE(coverage.share(), 0.75) << length;
    const double effective = length / inefficiency;
    if (coverage.long_enough >= 500) {
      EXPECT_GE(coverage.share_if_long_enough(), 0.60) << length;
      EXPECT_LE(coverage.share_if_long_enough(), 0.75) << length;
    } else {
      // The few that seem long enough before most are, are those whose inefficiency came out small:
      // there must be hardly any.
      EXPECT_LE(coverage.long_enough, 10) << length;
    }
    if (effective <= 100) {
      EXPECT_LE(coverage.long_enough, 50) << length;
    }
    if (effective >= 1000) {
      EXPECT_GE(coverage.long_enough, 980) << length;
      EXPECT_NEAR(coverage.mean_inefficiency / inefficiency, 1, 0.15) << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AutoregressiveSeries, testing::Values(0.0, 0.5, 0.9, 0.99));

TEST(BlockAverage, CoversTheTruthOfAMillionSamples) {
  const auto found =
      coverage_of({1000000}, 100, [](unsigned seed) { return FirstOrderSeries(0.99, seed); });
  print(0.99, 199, found);
  EXPECT_NEAR(found.at(1000000).share(), 0.68, 3 * std::sqrt(0.68 * 0.32 / 100));
  EXPECT_EQ(found.at(1000000).long_enough, 100);
  EXPECT_NEAR(found.at(1000000).mean_inefficiency / 199, 1, 0.1);
}

/// Nine tenths of the variance forgotten within a few samples, one tenth in 200: an automatic
/// window on the samples themselves closes before it sees the slow part, and covers the truth in 37
/// % of the series, however long they are.
struct TwoTimeScales {
  explicit TwoTimeScales(unsigned seed) : fast(0.5, 2 * seed), slow(0.99, 2 * seed + 1) {}
  double next() { return std::sqrt(0.9) * fast.next() + std::sqrt(0.1) * slow.next(); }
  FirstOrderSeries fast;
  FirstOrderSeries slow;
};

TEST(BlockAverage, SeesASlowPartBesideAFastOne) {
  const double inefficiency = 0.9 * 3 + 0.1 * 199;
  const auto found =
      coverage_of({10000, 30000, 100000}, 1000, [](unsigned seed) { return TwoTimeScales(seed); });
  print(0.99, inefficiency, found);
  for (const auto& [length, coverage] : found) {
    EXPECT_GE(coverage.share_if_long_enough(), 0.60) << length;
    EXPECT_LE(coverage.share(), 0.75) << length;
    EXPECT_NEAR(coverage.mean_inefficiency / inefficiency, 1, 0.15) << length;
  }
}

TEST(BlockAverage, TakesAnticorrelatedSamplesAsIndependent) {
  FirstOrderSeries values(-0.8, 5);
  BlockAverage average;
  for (int i = 0; i < 300; ++i) average.add(values.next());
  EXPECT_EQ(average.estimate().statistical_inefficiency, 1);
  EXPECT_TRUE(average.estimate().long_enough);
}

TEST(BlockAverage, MeanIsThatOfAllSamples) {
  BlockAverage average;
  for (int i = 1; i <= 1001; ++i) average.add(i);
  EXPECT_DOUBLE_EQ(average.estimate().mean, 501);
}

TEST(BlockAverage, ErrorOfTwoSamples) {
  BlockAverage average;
  for (double sample : {1.0, 2.0}) average.add(sample);
  EXPECT_DOUBLE_EQ(average.estimate().standard_error, 0.5);
  // Student's distribution of one degree of freedom: tan(pi (0.8413... - 1/2)).
  EXPECT_NEAR(average.estimate().error, 0.5 * 1.8373, 1e-4);
  EXPECT_DOUBLE_EQ(average.estimate().mean, 1.5);
  EXPECT_FALSE(average.estimate().long_enough);
}

/// What an error is worth that came from no change at all cannot be told.
TEST(BlockAverage, ConstantSeriesHasNoError) {
  BlockAverage average;
  for (int i = 0; i < 1000; ++i) average.add(-12345.678);
  const AverageEstimate estimate = average.estimate();
  EXPECT_DOUBLE_EQ(estimate.mean, -12345.678);
  EXPECT_EQ(estimate.error, 0);
  EXPECT_EQ(estimate.statistical_inefficiency, 1);
  EXPECT_FALSE(estimate.long_enough);
}

TEST(BlockAverage, TooFewSamples) {
  BlockAverage average;
  EXPECT_EQ(average.estimate().count, 0U);
  average.add(3);
  EXPECT_EQ(average.estimate().mean, 3);
  EXPECT_EQ(average.estimate().error, 0);
  EXPECT_FALSE(average.estimate().long_enough);
}

TEST(BlockAverage, SaysWhenTheSeriesIsTooShort) {
  BlockAverage average;
  for (int i = 0; i < 200; ++i) average.add(i);  // one long drift
  EXPECT_FALSE(average.estimate().long_enough);
}

void expect_same_bits(const BlockAverage& a, const BlockAverage& b) {
  const AverageEstimate of_a = a.estimate();
  const AverageEstimate of_b = b.estimate();
  EXPECT_EQ(std::memcmp(&of_a.mean, &of_b.mean, sizeof(double)), 0);
  EXPECT_EQ(std::memcmp(&of_a.error, &of_b.error, sizeof(double)), 0);
  EXPECT_EQ(of_a.statistical_inefficiency, of_b.statistical_inefficiency);
  EXPECT_EQ(of_a.count, of_b.count);
  EXPECT_EQ(of_a.degrees_of_freedom, of_b.degrees_of_freedom);
  EXPECT_EQ(of_a.long_enough, of_b.long_enough);
  EXPECT_EQ(a.state(), b.state());
}

TEST(BlockAverage, GoesOnFromItsStateWithTheSameBits) {
  constexpr int samples = 3000;
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    // The first cuts lie around the merging of blocks; the others anywhere.
    const int cut = trial < 10   ? trial
                    : trial < 20 ? 500 + 2 * trial
                                 : std::uniform_int_distribution<int>(0, samples - 1)(random);
    FirstOrderSeries values(0.9, static_cast<unsigned>(trial));
    BlockAverage uninterrupted;
    BlockAverage resumed;
    resumed.add(1e6);  // restore() leaves nothing of what was there
    for (int i = 0; i < samples; ++i) {
      if (i == cut) {
        // As a checkpoint keeps it.
        const auto bytes = nlohmann::json::to_cbor(uninterrupted.state());
        resumed.restore(nlohmann::json::from_cbor(bytes));
        expect_same_bits(uninterrupted, resumed);
      }
      const double sample = -20000 + values.next();
      uninterrupted.add(sample);
      if (i >= cut) resumed.add(sample);
    }
    expect_same_bits(uninterrupted, resumed);
  }
}

/// What restore() says of a document, or nothing.
std::string refusal(const nlohmann::json& document) {
  BlockAverage average;
  average.add(5);
  const nlohmann::json before = average.state();
  try {
    average.restore(document);
  } catch (const RunError& error) {
    EXPECT_EQ(average.state(), before);
    return error.what();
  }
  return "";
}

TEST(BlockAverage, RefusesAStateThatIsNotOne) {
  BlockAverage average;
  for (int i = 0; i < 6; ++i) average.add(i);
  const nlohmann::json good = average.state();
  EXPECT_EQ(refusal(good), "");
  const std::string start = "saved state of the block average: ";
  EXPECT_EQ(refusal(nlohmann::json::array({1, 2})),
            start + "should be an object with its values, not an array of 2");
  for (const char* key : {"count", "mean", "squared_deviations", "blocks", "begun_sum", "last",
                          "squared_differences"}) {
    nlohmann::json document = good;
    document.erase(key);
    EXPECT_EQ(refusal(document), start + "'" + key + "' is missing");
  }
  const auto with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json document = good;
    document[key] = value;
    return refusal(document);
  };
  EXPECT_EQ(with("count", -1), start + "'count' should be a whole number of at least 0, not -1");
  EXPECT_EQ(with("count", 6.5), start + "'count' should be a whole number of at least 0, not 6.5");
  EXPECT_EQ(with("count", "6"),
            start + "'count' should be a whole number of at least 0, not string");
  EXPECT_EQ(with("count", 8), start + "'blocks' should be an array of 8, not an array of 6");
  EXPECT_EQ(with("mean", nullptr), start + "'mean' should be a finite number, not null");
  EXPECT_EQ(with("begun_sum", std::nan("")),
            start + "'begun_sum' should be a finite number, not null");
  EXPECT_EQ(with("blocks", {0, 1, 2, nullptr, 4, 5}),
            start + "'blocks[3]' should be a finite number, not null");
  EXPECT_EQ(with("squared_deviations", -0.5),
            start + "'squared_deviations' is a sum of squares and cannot be -0.5");
}

TEST(BlockAverage, KeepsFewBlocks) {
  BlockAverage average;
  for (int i = 0; i < 1023; ++i) average.add(i);
  EXPECT_EQ(average.block_length(), 2U);
  EXPECT_EQ(average.blocks().size(), 511U);
  EXPECT_EQ(average.state()["begun_sum"], 1022);
  average.add(1023);
  EXPECT_EQ(average.block_length(), 4U);
  ASSERT_EQ(average.blocks().size(), 256U);
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(average.blocks()[i], 4 * static_cast<double>(i) + 1.5);
  }
}

}  // namespace
}  // namespace starpmc
