#include "analysis/block_average.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace starpmc {
namespace {

/// x_{k+1} = phi x_k + noise, stationary with variance 1: its statistical inefficiency is
/// (1 + phi) / (1 - phi), and the variance of the mean of n samples is that over n.
class FirstOrderSeries {
 public:
  FirstOrderSeries(double phi, unsigned seed) : phi_(phi), random_(seed) {
    last_ = normal_(random_);
  }
  double next() { return last_ = phi_ * last_ + std::sqrt(1 - phi_ * phi_) * normal_(random_); }

 private:
  double phi_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  double last_;
};

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

}  // namespace
}  // namespace starpmc
