#include "runtime/taken_workers.hpp"

#include <gtest/gtest.h>
#include <starpu.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "runtime/codelet.hpp"
#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc::codelets {
namespace {

struct Arguments : TaskArguments {};

class TakenWorkers : public test::StartedWorkers {
 protected:
  void SetUp() override {
    setenv("STARPU_SCHED", "dmda", 1);
    StartedWorkers::SetUp();
    ASSERT_EQ(starpu_cpu_worker_get_count(), 2U);
  }
};

TEST_F(TakenWorkers, LastOneAskedDoesNotRefuse) {
  Refusals refusals;
  EXPECT_TRUE(refusals.refuse(0));
  EXPECT_TRUE(refusals.refuse(0)) << "asked for another implementation";
  EXPECT_FALSE(refusals.refuse(1));
  EXPECT_FALSE(refusals.refuse(1));
  refusals.accept(0);
  EXPECT_TRUE(refusals.refuse(1));
  EXPECT_FALSE(refusals.refuse(0));
}

std::atomic<std::uint64_t> tasks_run;
void run(void*[], void*) { ++tasks_run; }

/// Chains whose QM updates take no time at all.
class BusyChains {
 public:
  BusyChains() {
    for (int i = 0; i < 2; ++i) {
      threads_.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) release_worker(take_worker());
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

TEST_F(TakenWorkers, SomeWorkerIsThereForATaskWhileTheyAreTakenAndReleased) {
  constexpr int kTasks = 30000;
  constexpr int kAtOnce = 100;
  static Codelet codelet("starpmc_test_taken_workers", {run, run, nullptr});
  const BusyChains chains;
  for (int i = 1; i <= kTasks; ++i) {
    ASSERT_NO_THROW(codelet.submit({}, Arguments{})) << "task " << i;
    if (i % kAtOnce == 0) starpu_task_wait_for_all();
  }
  EXPECT_EQ(tasks_run, kTasks);
}

}  // namespace
}  // namespace starpmc::codelets
