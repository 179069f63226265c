#include "app/checkpoint_pace.hpp"

#include <gtest/gtest.h>

namespace starpmc {
namespace {

using std::chrono::milliseconds;

TEST(CheckpointPace, IsDueAfterTheLongestTime) {
  const CheckpointPace::Clock::time_point start{};
  CheckpointPace pace(60, start);
  EXPECT_FALSE(pace.is_due(start + milliseconds(59999)));
  EXPECT_TRUE(pace.is_due(start + milliseconds(60000)));
  pace.taken(start + milliseconds(30000));
  EXPECT_FALSE(pace.is_due(start + milliseconds(60000)));
  EXPECT_TRUE(pace.is_worth_it(start + milliseconds(90000), 1e9)) << "however long it takes";
}

TEST(CheckpointPace, SpendsAShareOfTheTimeHoweverLongEachTakes) {
  CheckpointPace::Clock::time_point now{};
  const CheckpointPace::Clock::time_point start = now;
  CheckpointPace pace(1e6, now);
  double spent = 0;
  for (int update = 1; update <= 20000; ++update) {
    now += milliseconds(1);
    const double cost = 1e-6 * update;
    if (!pace.is_worth_it(now, cost)) continue;
    spent += cost;
    pace.taken(now);
  }
  EXPECT_LE(spent, 0.0201 * std::chrono::duration<double>(now - start).count());
  EXPECT_GT(spent, 0.015 * std::chrono::duration<double>(now - start).count());
}

TEST(CheckpointPace, EachLongUpdateHasOne) {
  const CheckpointPace::Clock::time_point start{};
  const CheckpointPace pace(300, start);
  EXPECT_TRUE(pace.is_worth_it(start + milliseconds(1000), 0.01));
  EXPECT_TRUE(pace.is_worth_it(start + milliseconds(1), 0)) << "nothing known yet";
}

}  // namespace
}  // namespace starpmc
