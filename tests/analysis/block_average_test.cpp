#include "analysis/block_average.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "error.hpp"
#include "first_order_series.hpp"

namespace starpmc {
namespace {

class AutoregressiveSeries : public testing::TestWithParam<double> {};

TEST_P(AutoregressiveSeries, InefficiencyAndErrorAreRight) {
  const double phi = GetParam();
  const double inefficiency = (1 + phi) / (1 - phi);
  constexpr int samples = 100000;
  constexpr int series = 40;
  double mean_inefficiency = 0;
  double squared_scores = 0;
  for (unsigned seed = 1; seed <= series; ++seed) {
    FirstOrderSeries values(phi, seed);
    BlockAverage average;
    for (int i = 0; i < samples; ++i) average.add(-20000 + values.next());
    const AverageEstimate estimate = average.estimate();
    EXPECT_TRUE(estimate.plateau_reached);
    EXPECT_EQ(estimate.count, static_cast<std::uint64_t>(samples));
    mean_inefficiency += estimate.statistical_inefficiency / series;
    squared_scores += std::pow((estimate.mean + 20000) / estimate.error, 2) / series;
  }
  // The true mean lies as many errors off as a normal variable would: its mean square over 40
  // series is 1 with a standard deviation of sqrt(2/40) = 0.22.
  EXPECT_NEAR(squared_scores, 1, 0.75);
  EXPECT_NEAR(mean_inefficiency / inefficiency, 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, AutoregressiveSeries, testing::Values(0.0, 0.5, 0.9, 0.98));

TEST(BlockAverage, MeanIsThatOfAllSamples) {
  BlockAverage average;
  for (int i = 1; i <= 1001; ++i) average.add(i);
  EXPECT_DOUBLE_EQ(average.estimate().mean, 501);
}

TEST(BlockAverage, ErrorOfTwoSamples) {
  BlockAverage average;
  for (double sample : {1.0, 2.0}) average.add(sample);
  EXPECT_DOUBLE_EQ(average.estimate().error, 0.5);
  EXPECT_DOUBLE_EQ(average.estimate().mean, 1.5);
}

TEST(BlockAverage, ConstantSeriesHasNoError) {
  BlockAverage average;
  for (int i = 0; i < 1000; ++i) average.add(-12345.678);
  const AverageEstimate estimate = average.estimate();
  EXPECT_DOUBLE_EQ(estimate.mean, -12345.678);
  EXPECT_EQ(estimate.error, 0);
  EXPECT_EQ(estimate.statistical_inefficiency, 1);
  EXPECT_TRUE(estimate.plateau_reached);
}

TEST(BlockAverage, TooFewSamples) {
  BlockAverage average;
  EXPECT_EQ(average.estimate().count, 0U);
  average.add(3);
  EXPECT_EQ(average.estimate().mean, 3);
  EXPECT_EQ(average.estimate().error, 0);
  EXPECT_FALSE(average.estimate().plateau_reached);
}

TEST(BlockAverage, SaysWhenTheSeriesIsTooShort) {
  BlockAverage average;
  for (int i = 0; i < 200; ++i) average.add(i);  // one long drift
  EXPECT_FALSE(average.estimate().plateau_reached);
}

void expect_same_bits(const BlockAverage& a, const BlockAverage& b) {
  const AverageEstimate of_a = a.estimate();
  const AverageEstimate of_b = b.estimate();
  EXPECT_EQ(std::memcmp(&of_a.mean, &of_b.mean, sizeof(double)), 0);
  EXPECT_EQ(std::memcmp(&of_a.error, &of_b.error, sizeof(double)), 0);
  EXPECT_EQ(of_a.statistical_inefficiency, of_b.statistical_inefficiency);
  EXPECT_EQ(of_a.count, of_b.count);
  EXPECT_EQ(of_a.block_length, of_b.block_length);
  EXPECT_EQ(of_a.plateau_reached, of_b.plateau_reached);
  EXPECT_EQ(a.state(), b.state());
}

TEST(BlockAverage, GoesOnFromItsStateWithTheSameBits) {
  constexpr int samples = 3000;
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    // The first cuts lie where levels begin; the others anywhere.
    const int cut = trial < 20 ? trial : std::uniform_int_distribution<int>(0, samples - 1)(random);
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
  for (const char* key : {"count", "mean", "squared_deviations", "pending"}) {
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
  EXPECT_EQ(with("count", 8), start + "'mean' should be an array of 4, not an array of 3");
  EXPECT_EQ(with("count", 3), start + "'mean' should be an array of 2, not an array of 3");
  EXPECT_EQ(with("pending", nullptr), start + "'pending' should be an array of 3, not null");
  EXPECT_EQ(with("mean", {1, nullptr, 2}), start + "'mean[1]' should be a finite number, not null");
  EXPECT_EQ(with("pending", {1, 2, std::nan("")}),
            start + "'pending[2]' should be a finite number, not null");
  EXPECT_EQ(with("squared_deviations", {1, -0.5, 0}),
            start + "'squared_deviations[1]' is a sum of squares and cannot be -0.5");
}

TEST(BlockAverage, StateKeepsFullPrecisionAndPendingHalves) {
  BlockAverage average;
  for (double sample : {0.1, 0.2, 0.7}) average.add(sample);
  const nlohmann::json state = average.state();
  EXPECT_EQ(state["count"], 3);
  ASSERT_EQ(state["pending"].size(), 2U);
  EXPECT_EQ(state["pending"][0], 0.7);
  EXPECT_EQ(state["pending"][1], 0.1 + (0.2 - 0.1) / 2);
  // The fourth sample completes both blocks, so that either half must have been kept.
  BlockAverage resumed;
  resumed.restore(nlohmann::json::parse(state.dump()));
  for (BlockAverage* each : {&average, &resumed}) each->add(0.4);
  EXPECT_EQ(average.state(), resumed.state());
}

}  // namespace
}  // namespace starpmc
