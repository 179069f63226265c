#include "runtime/task_history.hpp"

#include <gtest/gtest.h>
#include <starpu.h>

#include <cmath>
#include <cstdlib>

#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc::codelets {
namespace {

constexpr std::uint32_t kSmall = 40;
/// Further from the small one than durations on CPU cores are extrapolated.
constexpr std::uint32_t kBetween = 60;
constexpr std::uint32_t kLarge = 64;
constexpr int kSamples = 11;  // StarPU drops the first

double line(double work) { return 20 + 0.5 * work; }

TEST(Durations, InterpolatesBetweenMeasuredSizesOnly) {
  Durations durations;
  EXPECT_TRUE(std::isnan(durations.expected(kBetween)));
  EXPECT_TRUE(std::isnan(durations.estimate(1e4)));
  durations.set(kSmall, line(bucket_work(kSmall)));
  EXPECT_TRUE(std::isnan(durations.expected(kBetween)));
  durations.set(kLarge, line(bucket_work(kLarge)));
  for (std::uint32_t bucket = kSmall; bucket <= kLarge; ++bucket) {
    EXPECT_NEAR(durations.expected(bucket), line(bucket_work(bucket)),
                1e-9 * line(bucket_work(bucket)));
  }
  EXPECT_TRUE(std::isnan(durations.expected(kSmall - 1)));
  EXPECT_TRUE(std::isnan(durations.expected(kLarge + 1)));
  EXPECT_TRUE(std::isnan(durations.expected(0)));
  EXPECT_TRUE(std::isnan(durations.expected(Durations::kBuckets + 5)));
}

TEST(Durations, MeasuredSizeGoesBeforeItsNeighbours) {
  Durations durations;
  durations.set(kSmall, 100);
  durations.set(kBetween, 7);
  durations.set(kLarge, 200);
  EXPECT_EQ(durations.expected(kBetween), 7);
  durations.set(kBetween, 7, Durations::kEnough - 1);
  EXPECT_GT(durations.expected(kBetween), 100) << "few samples say less than measured neighbours";
  durations.set(kBetween, std::nan(""));
  EXPECT_GT(durations.expected(kBetween), 100);
}

double unknown(double) { return std::nan(""); }

TEST(Durations, GuessesFromTheNearestSample) {
  Durations durations;
  EXPECT_TRUE(std::isnan(durations.guess(kSmall, unknown)));
  durations.set(kBetween, 300, 1);
  EXPECT_TRUE(std::isnan(durations.expected(kBetween))) << "too few samples";
  EXPECT_EQ(durations.guess(kBetween, unknown), 300);
  EXPECT_NEAR(durations.guess(kBetween + 4, unknown), 600, 1e-9) << "in proportion to the work";
  EXPECT_NEAR(durations.guess(kBetween - 4, unknown), 150, 1e-9);
  const auto mostly_latency = [](double work) { return 10 * bucket_work(kBetween) + work; };
  EXPECT_NEAR(durations.guess(kBetween + 4, mostly_latency), 300 * 12. / 11, 1e-9);
  EXPECT_NEAR(durations.guess(kBetween - 4, mostly_latency), 300 * 10.5 / 11, 1e-9);
  durations.set(kLarge, 400, 2);
  EXPECT_NEAR(durations.guess(kLarge - 2, unknown),
              300 + 100 * (bucket_work(kLarge - 2) - bucket_work(kBetween)) /
                        (bucket_work(kLarge) - bucket_work(kBetween)),
              1e-9);
}

TEST(Durations, OneSampleIsNotBelievedAgainstTheOthers) {
  Durations durations;
  durations.set(kBetween, 300, 5);
  durations.set(kBetween + 4, 60000, 1);
  EXPECT_NEAR(durations.guess(kBetween + 4, unknown), 6000, 1e-6) << "600 by the other";
  durations.set(kBetween + 4, 60000, 3);
  EXPECT_NEAR(durations.guess(kBetween + 4, unknown), 600 * std::pow(100, 0.75), 1e-6);
  durations.set(kBetween + 4, 60000);
  EXPECT_EQ(durations.guess(kBetween + 4, unknown), 60000);
}

TEST(Durations, BucketsAndWorkAreInverse) {
  for (std::uint32_t bucket = 1; bucket < Durations::kBuckets; ++bucket) {
    EXPECT_EQ(work_bucket(bucket_work(bucket)), bucket);
  }
}

class TaskHistoryTest : public test::TwoCpuWorkers {
 protected:
  void SetUp() override { start(); }
  void TearDown() override {
    stop();
    unsetenv("STARPU_CALIBRATE");
  }
  void start() {
    ASSERT_EQ(starpu_init(nullptr), 0);
    running_ = true;
  }
  void stop() {
    if (!running_) return;
    TaskHistory::forget_all();
    starpu_shutdown();
    running_ = false;
  }
  void restart(const char* calibrate) {
    stop();
    setenv("STARPU_CALIBRATE", calibrate, 1);
    start();
  }
  static TaskHistory& history() { return TaskHistory::of("starpmc_task_history_test"); }
  static void record(std::uint32_t bucket, int samples = kSamples) {
    for (int i = 0; i < samples; ++i) history().record(0, 0, bucket, line(bucket_work(bucket)));
  }
  static double expected(std::uint32_t bucket) {
    return history().expected(*starpu_worker_get_perf_archtype(1, STARPU_NMAX_SCHED_CTXS), 0,
                              bucket);
  }

 private:
  bool running_ = false;
};

TEST_F(TaskHistoryTest, SizeBetweenTwoMeasuredOnesIsExpected) {
  EXPECT_TRUE(std::isnan(expected(kBetween)));
  record(kSmall);
  record(kLarge);
  EXPECT_NEAR(expected(kBetween), line(bucket_work(kBetween)), 1e-6 * line(bucket_work(kBetween)));
}

TEST_F(TaskHistoryTest, OneSampleIsEnoughForAFirstExpectation) {
  record(kBetween, 1);
  EXPECT_TRUE(std::isnan(expected(kBetween))) << "StarPU drops the first";
  record(kBetween, 1);
  const double known = line(bucket_work(kBetween));
  EXPECT_NEAR(expected(kBetween), known, 1e-6 * known);
  EXPECT_NEAR(expected(kBetween + 4), 2 * known, 1e-6 * known) << "in proportion";
}

/// As on a device whose libraries are compiled while it has its first tasks.
TEST_F(TaskHistoryTest, WhatAFirstRunWasToldOfDoesNotStay) {
  constexpr int kManySamples = 101;
  const auto run = [](std::uint32_t bucket, int tasks, double microseconds) {
    for (int i = 0; i < tasks; ++i) history().record(0, 0, bucket, microseconds);
    return history().estimate(0, 0, bucket_work(bucket));
  };
  EXPECT_NEAR(run(kSmall, kManySamples, 5000), 5000, 1);
  EXPECT_NEAR(run(kSmall, 2000, 5200), 5110, 10) << "a little off, and kept";
  EXPECT_NEAR(run(kSmall, 6000, 100), 100, 1) << "one of some is looked at";
  EXPECT_NEAR(run(kLarge, kManySamples, 5e6), 5e6, 1);
  EXPECT_NEAR(run(kLarge, 2 * kManySamples, 2e5), 2e5, 1) << "each is";
}

TEST_F(TaskHistoryTest, FilesOutliveStarpu) {
  record(kSmall);
  record(kLarge);
  restart("0");
  EXPECT_NEAR(expected(kLarge), line(bucket_work(kLarge)), 1e-3 * line(bucket_work(kLarge)));
  EXPECT_NEAR(expected(kBetween), line(bucket_work(kBetween)), 1e-3 * line(bucket_work(kBetween)));
}

/// A codelet of which the speeds of workers say something. The plain implementation stands for
/// another kind of worker.
class TaskPriorTest : public TaskHistoryTest {
 protected:
  static constexpr double kPairsPerMicrosecond = 1000;
  static constexpr double kCall = 5;  // microseconds
  static constexpr double kTimesSlower = 100;
  void SetUp() override {
    TaskHistoryTest::SetUp();
    for (const unsigned implementation : {0U, 1U}) {
      const double factor = implementation == 0 ? 1 : kTimesSlower;
      for (int i = 0; i < kSamples; ++i) {
        speed().record(0, implementation, kSmallest, kCall);
        speed().record(0, implementation, kLargest, factor * microseconds_of(kLargest));
      }
    }
  }
  static TaskHistory& speed() { return TaskHistory::of("starpmc_pairs_fixed"); }
  /// Three pairs a unit of work.
  static TaskHistory& windows() { return TaskHistory::of("starpmc_sample_windows_fixed"); }
  static double microseconds_of(std::uint32_t pairs) {
    return bucket_work(pairs) / kPairsPerMicrosecond;
  }
  static double expected(unsigned implementation, std::uint32_t bucket = kWork) {
    return windows().expected(*starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS),
                              implementation, bucket);
  }
  static double estimate(unsigned implementation, std::uint32_t bucket = kWork) {
    return windows().estimate(0, implementation, bucket_work(bucket));
  }

  static constexpr std::uint32_t kSmallest = 10;
  static constexpr std::uint32_t kLargest = 90;
  static constexpr std::uint32_t kWork = 101;
};

TEST_F(TaskPriorTest, SpeedTellsWhatATaskTakes) {
  const double pairs = 3 * bucket_work(kWork);
  // Amounts of work come in steps of 19 %.
  EXPECT_NEAR(estimate(0), pairs / kPairsPerMicrosecond, 0.1 * pairs / kPairsPerMicrosecond);
  EXPECT_NEAR(estimate(1) / estimate(0), kTimesSlower, 1e-6);
  EXPECT_EQ(estimate(0, 1), kCall);
  EXPECT_NEAR(expected(0), estimate(0) / 3, 1e-6 * estimate(0)) << "worth a try";
}

TEST_F(TaskPriorTest, WhatIsTenTimesSlowerIsNotTried) {
  for (int i = 0; i < 2; ++i) windows().record(0, 0, kWork, estimate(0));
  EXPECT_GT(expected(1), 10 * expected(0));
}

TEST_F(TaskPriorTest, TryingCostsAHundredthOfTheTimeAtMost) {
  const double quick = estimate(0);
  int tasks = 0;
  while (tasks < 100000 && (std::isnan(expected(0)) || expected(0) <= expected(1))) {
    windows().record(0, 0, kWork, quick);
    ++tasks;
  }
  EXPECT_NEAR(tasks, 100 * (kTimesSlower / 3 - 1), 15);
  windows().record(0, 1, kWork, kTimesSlower * quick);
  windows().record(0, 1, kWork, kTimesSlower * quick);
  EXPECT_NEAR(expected(1), kTimesSlower * quick, 1e-6 * quick) << "tried just now";
  EXPECT_NEAR(expected(0), quick, 1e-6 * quick);
}

TEST_F(TaskPriorTest, SizesThatWereNeverRunFollowThoseThatWere) {
  const double slower_than_thought = 2 * estimate(0);
  for (int i = 0; i < 2; ++i) windows().record(0, 0, kWork, slower_than_thought);
  EXPECT_NEAR(expected(0, kWork + 8), 4 * slower_than_thought, 1e-6 * slower_than_thought);
  EXPECT_NEAR(estimate(0, kWork + 8), 4 * slower_than_thought, 1e-6 * slower_than_thought);
}

TEST_F(TaskPriorTest, CalibrationTakesNothingForGranted) {
  restart("1");
  EXPECT_TRUE(std::isnan(expected(0)));
  EXPECT_FALSE(std::isnan(estimate(0)));
}

TEST_F(TaskHistoryTest, CalibrationAsksForEverySizeItself) {
  record(kSmall);
  record(kLarge);
  restart("1");
  EXPECT_FALSE(std::isnan(expected(kLarge)));
  EXPECT_TRUE(std::isnan(expected(kBetween)));
  restart("2");
  EXPECT_TRUE(std::isnan(expected(kLarge)));
  record(kBetween);
  restart("0");
  EXPECT_FALSE(std::isnan(expected(kBetween)));
  const double from_between =
      line(bucket_work(kBetween)) * bucket_work(kSmall) / bucket_work(kBetween);
  EXPECT_NEAR(expected(kSmall), from_between, 1e-3 * from_between) << "calibrated from scratch";
}

}  // namespace
}  // namespace starpmc::codelets
