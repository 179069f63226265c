#include "sampling/task_sizes.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "codelets/operations.hpp"
#include "runtime/starpu_runtime.hpp"
#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc {
namespace {

constexpr double kWork = 1 << 20;
constexpr double kPairs = 1e7;

/// Two CPU workers whose models know what a test tells them.
class TaskSizes : public test::TwoCpuWorkers {
 protected:
  void SetUp() override {
    runtime_ = std::make_unique<StarpuRuntime>(Precision::mixed, Implementation::simd);
  }
  void TearDown() override { runtime_.reset(); }
  /// The model has seen two sizes around `work`.
  static Workload measured(const std::string& codelet, double work, double milliseconds) {
    for (const double factor : {0.5, 2.0}) {
      const std::uint32_t bucket = codelets::work_bucket(factor * work);
      for (int i = 0; i < 11; ++i) {
        codelets::TaskHistory::of(codelet).record(0, 0, bucket, factor * milliseconds * 1e3);
      }
    }
    return {codelet, work, kPairs};
  }

 private:
  std::unique_ptr<StarpuRuntime> runtime_;
};

TEST_F(TaskSizes, PartsFollowTheModel) {
  EXPECT_EQ(task_parts(measured("slow", kWork, 30), 1), 4U) << "two for each worker";
  EXPECT_EQ(task_parts(measured("ten times faster", kWork, 3.01), 1), 3U);
  EXPECT_EQ(task_parts(measured("a hundred times faster", kWork, 0.3), 1), 1U);
}

TEST_F(TaskSizes, PartsAreGuessedWithoutMeasurements) {
  EXPECT_EQ(task_parts({"unknown", kWork, 1e5}, 1), 1U);
  EXPECT_EQ(task_parts({"unknown", kWork, 1e9}, 1), 4U);
  EXPECT_EQ(task_parts(measured("known", kWork, 0.3), 1), 1U);
}

TEST_F(TaskSizes, OneWorkerNeedsNoParts) {
  const Workload load = measured("slow", kWork, 30);
  StarpuRuntime::restrict_to(Implementation::simd, 1);
  EXPECT_EQ(task_parts(load, 1), 1U);
}

/// Four candidates each are more than cores gain by longer windows.
TEST_F(TaskSizes, CoresVisitNoMoleculeInTurnAThirdTime) { EXPECT_EQ(visits_in_turn(), 2U); }

TEST_F(TaskSizes, WindowsOfATaskFollowTheModel) {
  const Workload fast = measured("fast", kWork, 0.02);
  EXPECT_EQ(windows_per_task(TaskSize::automatic, fast, 1), codelets::kMostWindowsPerTask);
  const Workload middle = measured("middle", kWork, 0.9);
  EXPECT_EQ(windows_per_task(TaskSize::automatic, middle, 1), 5U);
  const Workload slow = measured("slow", kWork, 10);
  EXPECT_EQ(windows_per_task(TaskSize::automatic, slow, 1), 0U) << "shared by two workers";
  EXPECT_EQ(windows_per_task(TaskSize::windows, slow, 1), 1U);
  EXPECT_EQ(windows_per_task(TaskSize::terms, fast, 1), 0U);
}

TEST_F(TaskSizes, ChainsShareTheWorkers) {
  const Workload slow = measured("slow", kWork, 30);
  for (const unsigned chains : {2U, 3U, 0U}) {
    EXPECT_EQ(task_parts(slow, chains), 1U) << chains;
    EXPECT_EQ(windows_per_task(TaskSize::automatic, slow, chains), 1U) << chains;
    EXPECT_EQ(windows_per_task(TaskSize::terms, slow, chains), 0U) << chains;
  }
}

/// A device's windows: a latency, and a rate of one millisecond a step.
std::uint32_t window_with(const std::string& codelet, double latency, std::size_t molecules) {
  const auto terms = [&](std::uint32_t steps) {
    return std::vector<Workload>{{codelet, kWork * steps, 0}};
  };
  for (std::uint32_t steps = 25; steps <= 400; steps *= 2) {
    const std::uint32_t bucket = codelets::work_bucket(kWork * steps);
    for (int i = 0; i < 11; ++i) {
      codelets::TaskHistory::of(codelet).record(0, 0, bucket, 1e3 * (latency + steps));
    }
  }
  return automatic_window(molecules, true, terms);
}

TEST_F(TaskSizes, WindowsAreAsLongAsTheLatencyWants) {
  EXPECT_EQ(window_with("no latency", 0, 1000), 50U);
  EXPECT_EQ(window_with("some latency", 8, 1000), 100U);
  EXPECT_EQ(window_with("long latency", 100, 1000), 200U);
  EXPECT_EQ(window_with("few molecules", 100, 30), 30U);
}

TEST_F(TaskSizes, WindowsAreGuessedWithoutMeasurements) {
  const auto terms = [](std::uint32_t) { return std::vector<Workload>{{"new", kWork, kPairs}}; };
  EXPECT_EQ(automatic_window(1000, true, terms), 200U);
  EXPECT_EQ(automatic_window(1000, false, terms), 96U);
}

}  // namespace
}  // namespace starpmc
