#include "analysis/equilibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "first_order_series.hpp"

namespace starpmc {
namespace {

/// Relaxes from `start` standard deviations above the mean, over `relaxation` of its length.
Equilibration detected(double phi, int length, double start, double relaxation, unsigned seed) {
  FirstOrderSeries values(phi, seed);
  BlockAverage series;
  for (int i = 0; i < length; ++i)
    series.add(-500 + values.next() + start * std::exp(-i / (relaxation * length)));
  return detect_equilibration(series);
}

TEST(Equilibration, FindsARelaxation) {
  int late = 0;
  double mean = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const Equilibration found = detected(0.9, 4000, 10, 0.1, seed);
    late += found.is_late();
    mean += found.mean_from_there / 100;
    EXPECT_GT(found.share, 0.1) << seed;
    EXPECT_GT(found.effective_samples_from_there, 2 * found.effective_samples_of_all);
  }
  EXPECT_GE(late, 80);
  EXPECT_NEAR(mean, -500, 0.4);  // 1 above it with all samples
}

TEST(Equilibration, IsRarelyLateInAStationarySeries) {
  // Of 5, 10, 50, 200 and 5,000 independent samples.
  for (const int length : {100, 200, 1000, 4000, 100000}) {
    int late = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
      const Equilibration found = detected(0.9, length, 0, 1, seed);
      late += found.is_late();
      EXPECT_GE(found.effective_samples_from_there, found.effective_samples_of_all);
      EXPECT_LE(found.share, 0.5);
    }
    std::cout << length << ": " << late << " of 200 late\n";
    EXPECT_LE(late, length < 1000 ? 14 : length == 1000 ? 5 : 0) << length;
  }
}

TEST(Equilibration, OfShortAndConstantSeries) {
  BlockAverage series;
  EXPECT_EQ(detect_equilibration(series).share, 0);
  for (int i = 0; i < 19; ++i) series.add(i);
  EXPECT_EQ(detect_equilibration(series).share, 0);
  BlockAverage constant;
  for (int i = 0; i < 100; ++i) constant.add(3);
  EXPECT_EQ(detect_equilibration(constant).share, 0);
  EXPECT_EQ(detect_equilibration(constant).mean_from_there, 3);
  EXPECT_FALSE(detect_equilibration(constant).is_late());
}

}  // namespace
}  // namespace starpmc
