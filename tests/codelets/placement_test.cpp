#include <gtest/gtest.h>
#include <starpu.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <thread>

#include "runtime/codelet.hpp"
#include "runtime/starpu_runtime.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc::codelets {
namespace {

using namespace std::chrono_literals;

struct Arguments : TaskArguments {};

/// Work that a core with AVX-512 does in a millisecond.
constexpr double kWork = 2e6;
/// How long so much takes on a core, and on the OpenCL device; other work in proportion.
std::chrono::microseconds on_core;
std::chrono::microseconds on_device;
void wait(std::chrono::microseconds time, void* argument) {
  const double work = bucket_work(arguments_of<Arguments>(argument).work_bucket);
  std::this_thread::sleep_for(time * (work / kWork));
}
void core(void*[], void* argument) { wait(on_core, argument); }
void device(void*[], void* argument) { wait(on_device, argument); }

/// dmda's choice between one core and one OpenCL device, PoCL's where there is no other, from no
/// models at all.
class Placement : public testing::Test {
 protected:
  Placement() {
    setenv("STARPU_HOME", folder_.path().c_str(), 1);
    setenv("STARPMC_PERFMODELS", folder_.path().c_str(), 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_NOPENCL", "1", 1);
    setenv("STARPU_OPENCL_ON_CPUS", "1", 1);
    unsetenv("STARPU_CALIBRATE");
  }
  void SetUp() override {
    runtime_ = std::make_unique<StarpuRuntime>(Precision::mixed, Implementation::any);
    if (runtime_->opencl_workers() == 0) GTEST_SKIP() << "no OpenCL device";
    on_core = on_device = 1000us;
  }
  void TearDown() override {
    runtime_.reset();
    for (const char* name : {"STARPU_NOPENCL", "STARPU_OPENCL_ON_CPUS", "STARPMC_PERFMODELS"}) {
      unsetenv(name);
    }
  }

  /// Tasks of so much work, one after another.
  static void run(double work, int tasks) {
    static Codelet codelet("starpmc_sample_windows_mixed", {core, core, device});
    codelet_ = &codelet;
    for (int i = 0; i < tasks; ++i) {
      codelet.submit({}, Arguments{{work_bucket(work)}});
      starpu_task_wait_for_all();
    }
  }
  /// Of the tasks so far, in all tests.
  static std::uint64_t tasks_on(ImplementationSlot slot) {
    std::uint64_t tasks = 0;
    for (const auto& counter : codelet_->statistics().counters[slot]) tasks += counter.tasks;
    return tasks;
  }

  static constexpr int kTasks = 40;

 private:
  TemporaryFolder folder_;
  std::unique_ptr<StarpuRuntime> runtime_;
  static inline const Codelet* codelet_ = nullptr;
};

TEST_F(Placement, SlowWorkerIsNotTriedTenTimes) {
  on_core = 20ms;
  run(kWork, 0);
  const std::uint64_t before = tasks_on(kSimdSlot);
  run(kWork, kTasks);
  EXPECT_LE(tasks_on(kSimdSlot) - before, 3U) << "one try that counts, after one that does not";
}

TEST_F(Placement, OtherSizesNeedNoTries) {
  on_core = 10ms;
  run(kWork, 10);
  const std::uint64_t before = tasks_on(kSimdSlot);
  run(10 * kWork, kTasks);
  run(kWork / 4, kTasks);
  EXPECT_LE(tasks_on(kSimdSlot) - before, 3U) << "of 80; a disturbed machine may mislead it once";
}

TEST_F(Placement, QuickestWorkerIsFoundWhereTheSpeedMisleads) {
  on_device = 20ms;
  run(kWork, 10);
  const std::uint64_t before = tasks_on(kOpenclSlot);
  run(kWork, kTasks);
  EXPECT_LE(tasks_on(kOpenclSlot) - before, 3U);
}

}  // namespace
}  // namespace starpmc::codelets
