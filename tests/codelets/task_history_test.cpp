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
  EXPECT_TRUE(std::isnan(durations.expected(kBetween, 2)));
  EXPECT_TRUE(std::isnan(durations.estimate(1e4)));
  durations.set(kSmall, line(bucket_work(kSmall)));
  EXPECT_TRUE(std::isnan(durations.expected(kBetween, 2)));
  durations.set(kLarge, line(bucket_work(kLarge)));
  for (std::uint32_t bucket = kSmall; bucket <= kLarge; ++bucket) {
    EXPECT_NEAR(durations.expected(bucket, 2), line(bucket_work(bucket)),
                1e-9 * line(bucket_work(bucket)));
  }
  EXPECT_TRUE(std::isnan(durations.expected(kSmall - 1, 2)));
  EXPECT_NEAR(durations.expected(kLarge + 2, 2),
              line(bucket_work(kLarge)) * bucket_work(kLarge + 2) / bucket_work(kLarge), 1e-6);
  EXPECT_TRUE(std::isnan(durations.expected(kLarge + 3, 2)));
  EXPECT_TRUE(std::isnan(durations.expected(0, 2)));
  EXPECT_TRUE(std::isnan(durations.expected(Durations::kBuckets + 5, 2)));
}

TEST(Durations, MeasuredSizeGoesBeforeItsNeighbours) {
  Durations durations;
  durations.set(kSmall, 100);
  durations.set(kBetween, 7);
  durations.set(kLarge, 200);
  EXPECT_EQ(durations.expected(kBetween, 2), 7);
  durations.set(kBetween, std::nan(""));
  EXPECT_GT(durations.expected(kBetween, 2), 100);
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
  record(kLarge, kSamples - 1);
  EXPECT_TRUE(std::isnan(expected(kBetween))) << "one sample too few";
  record(kLarge, 1);
  EXPECT_NEAR(expected(kBetween), line(bucket_work(kBetween)), 1e-6 * line(bucket_work(kBetween)));
}

TEST_F(TaskHistoryTest, FilesOutliveStarpu) {
  record(kSmall);
  record(kLarge);
  restart("0");
  EXPECT_NEAR(expected(kLarge), line(bucket_work(kLarge)), 1e-3 * line(bucket_work(kLarge)));
  EXPECT_NEAR(expected(kBetween), line(bucket_work(kBetween)), 1e-3 * line(bucket_work(kBetween)));
}

TEST_F(TaskHistoryTest, WhatIsTooSlowAnywayIsNotTried) {
  constexpr double kAlone = 1000;  // microseconds of the small size, were it in proportion
  const auto slow = [](std::uint32_t bucket) {
    return history().expected(*starpu_worker_get_perf_archtype(1, STARPU_NMAX_SCHED_CTXS), 1,
                              bucket);
  };
  for (int i = 0; i < kSamples; ++i) {
    history().record(0, 1, kLarge, kAlone * bucket_work(kLarge) / bucket_work(kSmall));
  }
  EXPECT_TRUE(std::isnan(slow(kSmall))) << "nothing to compare with";
  for (int i = 0; i < kSamples; ++i) history().record(0, 0, kBetween, 300);
  EXPECT_TRUE(std::isnan(slow(kSmall))) << "the other is not known at this size";
  for (int i = 0; i < kSamples; ++i) history().record(0, 0, kSmall, kAlone / 11);
  EXPECT_NEAR(slow(kSmall), kAlone, 1e-6 * kAlone);
  EXPECT_TRUE(std::isnan(slow(kSmall - 1))) << "no more known of the other";
  for (int i = 0; i < kSamples; ++i) history().record(0, 0, kSmall + 4, 2 * kAlone / 9);
  EXPECT_TRUE(std::isnan(slow(kSmall + 4))) << "it might be worth it";
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
  EXPECT_TRUE(std::isnan(expected(kSmall))) << "calibrated from scratch";
}

}  // namespace
}  // namespace starpmc::codelets
