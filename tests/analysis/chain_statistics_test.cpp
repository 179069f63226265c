#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analysis/ensemble.hpp"
#include "first_order_series.hpp"
#include "kernels/base/error.hpp"
#include "reference_series.hpp"

namespace starpmc {
namespace {

SeriesMoments moments_of(std::span<const double> samples) {
  SeriesMoments moments;
  for (double sample : samples) moments.add(sample);
  return moments;
}

TEST(SeriesMoments, OfTwoSeriesTogether) {
  const std::vector<double> all = reference_series(0, 100);
  for (std::size_t cut : {0U, 1U, 37U, 99U, 100U}) {
    SeriesMoments first = moments_of(std::span(all).first(cut));
    first.add(moments_of(std::span(all).subspan(cut)));
    EXPECT_EQ(first.count, 100U);
    EXPECT_NEAR(first.mean, moments_of(all).mean, 1e-10);
    EXPECT_NEAR(first.squared_deviations / moments_of(all).squared_deviations, 1, 1e-9);
  }
  SeriesMoments empty;
  empty.add(SeriesMoments{});
  EXPECT_EQ(empty.count, 0U);
  EXPECT_EQ(empty.mean, 0);
  EXPECT_EQ(moments_of(std::vector<double>{1, 2, 6}).variance(), 7);
  EXPECT_TRUE(std::isnan(moments_of(std::vector<double>{1}).variance()));
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
  constexpr std::uint64_t expected_numbers[] = {0, 1, samples, 777};
  // Around the ends of halves and the counts at which segments double their length.
  constexpr std::uint64_t special_cuts[] = {0, 1, 2, 63, 64, 65, 128, 129, 388, 389, 999, 1000};
  std::mt19937 random(11);
  for (int trial = 0; trial < 120; ++trial) {
    const std::uint64_t expected = expected_numbers[trial % 4];
    const std::uint64_t cut =
        trial < 48 ? special_cuts[static_cast<std::size_t>(trial) / 4]
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

TEST(ChainStatistics, SaysWhetherItRemembersItsStart) {
  ChainStatistics chain;
  EXPECT_FALSE(chain.remembers_start());
  chain.set_remembers_start(true);
  ChainStatistics other;
  other.restore(chain.state());
  EXPECT_TRUE(other.remembers_start());
  nlohmann::json earlier = chain.state();
  earlier.erase("remembers_start");
  other.restore(earlier);
  EXPECT_FALSE(other.remembers_start());
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

}  // namespace
}  // namespace starpmc
