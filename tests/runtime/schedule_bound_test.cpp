#include "runtime/schedule_bound.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/task_gaps.hpp"

namespace starpmc::codelets {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double bound(const std::vector<TaskGroup>& groups, const std::vector<unsigned>& workers) {
  return area_bound(groups, workers);
}

TEST(AreaBound, IsTheMeanLoadOfEqualWorkers) {
  EXPECT_DOUBLE_EQ(bound({{10, {2}}, {4, {5}}}, {8}), 5);
  EXPECT_EQ(bound({}, {8}), 0);
}

TEST(AreaBound, SharesTasksOutByTheSpeedsOfWorkers) {
  // A device does a task in 1 s, each of two cores in 4 s: 1 + 2/4 tasks a second.
  EXPECT_NEAR(bound({{12, {1, 4}}}, {1, 2}), 8, 1e-9);
}

TEST(AreaBound, GivesEachTaskToWhatIsBestWithIt) {
  // The device does both kinds faster, but has most to gain from the first: 10 s of it there, and
  // of the second, 30 s of device time or 60 s of a core's, x where 10 + 3 x = 6 (10 - x).
  EXPECT_NEAR(bound({{10, {1, 100}}, {10, {3, 6}}}, {1, 1}), 10 + 3 * 50. / 9, 1e-9);
  EXPECT_NEAR(bound({{10, {1, kNever}}, {10, {kNever, 7}}}, {1, 2}), 35, 1e-9);
  EXPECT_TRUE(std::isinf(bound({{1, {kNever, kNever}}}, {1, 1})));
}

/// The least makespan over all ways to share two groups out among three kinds, by trying.
double by_trial(const std::vector<TaskGroup>& groups, const std::vector<unsigned>& workers) {
  constexpr int kParts = 60;
  double best = kNever;
  const auto load = [&](std::size_t kind, double first, double second) {
    return (groups[0].count * first * groups[0].seconds[kind] +
            groups[1].count * second * groups[1].seconds[kind]) /
           workers[kind] / kParts;
  };
  for (int a = 0; a <= kParts; ++a) {
    for (int b = 0; a + b <= kParts; ++b) {
      for (int c = 0; c <= kParts; ++c) {
        for (int d = 0; c + d <= kParts; ++d) {
          best = std::min(best, std::max({load(0, a, c), load(1, b, d),
                                          load(2, kParts - a - b, kParts - c - d)}));
        }
      }
    }
  }
  return best;
}

TEST(AreaBound, IsNotAboveTheBestOfThreeKinds) {
  for (const double slow : {1.5, 4.0, 30.0}) {
    const std::vector<TaskGroup> groups{{20, {1, 2, slow}}, {30, {2, 1.5, 3}}};
    const std::vector<unsigned> workers{1, 2, 3};
    const double least = by_trial(groups, workers);
    const double found = bound(groups, workers);
    EXPECT_LE(found, least + 1e-9) << slow;
    EXPECT_GE(found, 0.93 * least) << slow;  // trials are coarse
  }
}

TEST(TaskGaps, CountTheTimeWithoutAnyTask) {
  using std::chrono::seconds;
  TaskGaps gaps;
  const auto start = TaskGaps::Clock::now() + seconds(100);
  const double before = gaps.seconds(start);
  gaps.task_submitted(start + seconds(1));
  gaps.task_submitted(start + seconds(2));
  gaps.task_ended(start + seconds(4));
  EXPECT_DOUBLE_EQ(gaps.seconds(start + seconds(5)) - before, 1);
  gaps.task_ended(start + seconds(6));
  EXPECT_DOUBLE_EQ(gaps.seconds(start + seconds(8)) - before, 3);
  gaps.task_submitted(start + seconds(9));
  EXPECT_DOUBLE_EQ(gaps.seconds(start + seconds(20)) - before, 4);
}

}  // namespace
}  // namespace starpmc::codelets
