#include "app/qm_forecast.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace starpmc {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

Settings settings_of(std::uint64_t steps, std::uint64_t interval, unsigned chains = 1) {
  Settings settings;
  settings.sampling.equilibration_steps = 0;
  settings.sampling.steps = steps;
  settings.sampling.chains = chains;
  settings.qm.interval = interval;
  return settings;
}

TEST(QmForecast, HasOneDigitInAUnitOfItsSize) {
  const QmForecast forecast{1234, 5321, 612, 147};
  EXPECT_EQ(
      describe(forecast, settings_of(250'000, 1000)),
      "the QM molecule has 1234 basis functions: about 10 min until the first update, 2 min "
      "an update and 5 GB for each QM worker (estimates, good to a factor of three); 250 updates "
      "a chain: 10 h");
  EXPECT_EQ(
      describe({24, 260, 0.2, 0.046}, settings_of(1001, 1000)),
      "the QM molecule has 24 basis functions: about 0.2 s until the first update, 0.05 s an "
      "update and 0.3 GB for each QM worker (estimates, good to a factor of three); 2 updates a "
      "chain: 0.09 s");
}

TEST(QmForecast, SaysNothingOfUpdatesWhoseNumberIsNotKnown) {
  const std::string text = describe({1234, 5321, 612, 147}, settings_of(250'000, 0));
  EXPECT_EQ(text.find("updates"), std::string::npos) << text;
}

TEST(QmForecast, IsLargeFromAMinuteAnUpdateOrWithoutRoom) {
  const QmForecast quick{24, 1000, 1, 59};
  EXPECT_FALSE(is_large(quick, settings_of(1000, 100), kUnlimited));
  EXPECT_TRUE(is_large({24, 1000, 1, 61}, settings_of(1000, 100), kUnlimited));
  Settings four = settings_of(1000, 100, 4);
  four.qm.workers = 4;
  EXPECT_FALSE(is_large(quick, four, 4001));
  EXPECT_TRUE(is_large(quick, four, 3999));
  four.qm.workers = 2;
  EXPECT_FALSE(is_large(quick, four, 2001)) << "chains use them in turn";
  EXPECT_TRUE(is_large(quick, four, 1999));
  EXPECT_FALSE(is_large(quick, settings_of(1000, 100, 0), 1001)) << "auto: one is certain";
}

}  // namespace
}  // namespace starpmc
