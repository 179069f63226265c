#include "runtime/device_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace starpmc::codelets {
namespace {

TEST(DevicePace, TakesATaskThatHasTheDeviceToItselfAsItWas) {
  DevicePace pace;
  for (const double microseconds : {700.0, 20.0, 5000.0}) {
    EXPECT_EQ(pace.duration(
                  microseconds, [] { return 1000.0; }, false),
              microseconds);
  }
}

TEST(DevicePace, LeavesATaskAsItWasWhoseShareIsNotKnown) {
  DevicePace pace;
  EXPECT_EQ(pace.duration(
                700, [] { return std::numeric_limits<double>::quiet_NaN(); }, true),
            700);
  EXPECT_EQ(pace.duration(
                700, [] { return 0.0; }, true),
            700);
}

/// Durations found of a device that computes all its tasks at once, each at an equal share of its
/// speed, and tells them in the order in which they came, as StarPU does: each begins when the one
/// before it ends.
struct SharedDevice {
  DevicePace pace{};
  std::array<double, 2> sums{};     ///< by size
  std::array<double, 2> as_told{};  ///< what StarPU tells
  std::array<unsigned, 2> counts{};
  unsigned unknown = 0;

  /// @param chains each has one task at a time, of either size by chance
  /// @param slower than expected
  void run(unsigned chains, const std::array<double, 2>& microseconds, unsigned tasks,
           double slower = 1) {
    struct Task {
      std::size_t size;
      double left;
    };
    std::vector<Task> tasks_under_way;  // in the order of their beginnings
    std::mt19937 random(5);
    const auto next = [&] {
      const std::size_t size = random() % 2;
      tasks_under_way.push_back({size, slower * microseconds[size]});
    };
    for (unsigned chain = 0; chain < chains; ++chain) next();
    double since_last = 0;
    for (unsigned done = 0; done < tasks;) {
      const auto first_to_end = std::ranges::min_element(tasks_under_way, {}, [](const Task& task) {
        return task.left > 0 ? task.left : std::numeric_limits<double>::infinity();
      });
      if (tasks_under_way.front().left > 0) {
        const double step = first_to_end->left;
        const auto running =
            std::ranges::count_if(tasks_under_way, [](const Task& task) { return task.left > 0; });
        since_last += step * static_cast<double>(running);
        for (Task& task : tasks_under_way) task.left = std::max(0.0, task.left - step);
      }
      while (!tasks_under_way.empty() && tasks_under_way.front().left <= 0) {
        const std::size_t size = tasks_under_way.front().size;
        tasks_under_way.erase(tasks_under_way.begin());
        const double found = pace.duration(
            since_last, [&] { return microseconds[size] / 7; }, !tasks_under_way.empty());
        if (std::isnan(found)) {
          ++unknown;
        } else {
          sums[size] += found;
          as_told[size] += since_last;
          ++counts[size];
        }
        since_last = 0;
        next();
        ++done;
      }
    }
  }
  double mean(std::size_t size) const { return sums[size] / counts[size]; }
  double mean_told(std::size_t size) const { return as_told[size] / counts[size]; }
};

TEST(DevicePace, GivesTasksThatShareADeviceTheirShares) {
  SharedDevice device;
  device.run(16, {300, 3000}, 20000);
  EXPECT_LT(device.unknown, 20U);
  EXPECT_NEAR(device.mean(0), 300, 9);
  EXPECT_NEAR(device.mean(1), 3000, 90);
  // That there is something to mend: the large ones have done the small ones' work.
  EXPECT_LT(device.mean_told(0), 0.7 * 300);
}

TEST(DevicePace, FollowsADeviceThatIsSharedWithOthers) {
  SharedDevice device;
  device.run(8, {300, 300}, 1000);
  device.sums = {};
  device.counts = {};
  device.run(8, {300, 300}, 5000, 3);
  EXPECT_NEAR(device.mean(0), 900, 30);
}

}  // namespace
}  // namespace starpmc::codelets
