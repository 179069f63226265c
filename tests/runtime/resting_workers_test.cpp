#include "runtime/resting_workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc {
namespace {

using namespace std::chrono_literals;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class RestingWorkers : public test::TwoCpuWorkers, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    setenv("STARPU_SCHED", GetParam(), 1);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncuda = 0;
    ASSERT_EQ(start_starpu(conf), 0);
  }
  void TearDown() override {
    starpu_shutdown();
    unsetenv("STARPU_SCHED");
  }
};

std::atomic<int> tasks_run{0};
void count_task(void** /*buffers*/, void* /*arguments*/) { ++tasks_run; }

/// Of the processor's time, not of the clock's: other work on the machine makes no difference.
TEST_P(RestingWorkers, LeaveTheirCoresWhileThereIsNothingToDo) {
  constexpr double kIdleSeconds = 0.4;
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(kIdleSeconds));
  const double used = processor_seconds() - before;
  RecordProperty("processor_seconds", std::to_string(used));
  EXPECT_LT(used, 0.5 * kIdleSeconds) << "two workers polled";
}

TEST_P(RestingWorkers, TasksAreDoneWheneverTheyCome) {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = count_task;
  tasks_run = 0;
  constexpr int kTasks = 24;
  for (int i = 0; i < kTasks; ++i) {
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet;
    ASSERT_EQ(starpu_task_submit(task), 0);
    if (i % 4 == 3) std::this_thread::sleep_for(10ms);  // they rest by then
  }
  ASSERT_EQ(starpu_task_wait_for_all(), 0);
  EXPECT_EQ(tasks_run, kTasks);
}

TEST_P(RestingWorkers, SchedulerIsTheOneAskedFor) {
  EXPECT_STREQ(starpu_sched_ctx_get_sched_policy(0)->policy_name, GetParam());
  EXPECT_STREQ(std::getenv("STARPU_SCHED"), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Schedulers, RestingWorkers,
                         testing::Values("dmda", "dmdas", "lws", "eager", "prio", "random"),
                         [](const auto& scheduler) { return std::string(scheduler.param); });

}  // namespace
}  // namespace starpmc
