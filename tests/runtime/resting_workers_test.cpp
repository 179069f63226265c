#include "runtime/resting_workers.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include "runtime/data_handle.hpp"
#include "runtime/device_failure.hpp"
#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc {
namespace {

using namespace std::chrono_literals;

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double processor_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double thread_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

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

/// The only worker is that of an OpenCL device, PoCL's where there is no other.
class RestingWorkerOfDevice : public test::TwoCpuWorkers {
 protected:
  void SetUp() override {
    setenv("STARPU_SCHED", "dmda", 1);
    setenv("STARPU_NCPU", "0", 1);
    setenv("STARPU_NOPENCL", "1", 1);
    setenv("STARPU_OPENCL_ON_CPUS", "1", 1);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncuda = 0;
    started_ = start_starpu(conf) == 0;
    if (!started_ || starpu_opencl_worker_get_count() == 0) GTEST_SKIP() << "no OpenCL device";
    worker_ = starpu_worker_get_by_type(STARPU_OPENCL_WORKER, 0);
  }
  void TearDown() override {
    if (started_) starpu_shutdown();
    for (const char* name : {"STARPU_SCHED", "STARPU_OPENCL_ON_CPUS"}) unsetenv(name);
  }
  int worker() const { return worker_; }

 private:
  bool started_ = false;
  int worker_ = -1;
};

/// What the process does while its main thread does nothing. Each rest is a switch that it asks
/// for; how many there are in a second of the processor's does not depend on other work on the
/// machine.
struct Use {
  double seconds = 0;
  double switches = 0;
};
Use use_within(std::chrono::milliseconds time) {
  const auto switches = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
  };
  const double seconds_before = processor_seconds();
  const long before = switches();
  std::this_thread::sleep_for(time);
  return {processor_seconds() - seconds_before, static_cast<double>(switches() - before)};
}
constexpr double kRestsInASecond = 1000;

TEST_F(RestingWorkerOfDevice, LeavesItsCoreWhileThereIsNothingToDo) {
  const Use use = use_within(400ms);
  EXPECT_LT(use.seconds, 0.2) << "the device's worker polled";
  EXPECT_GT(use.switches, kRestsInASecond * use.seconds) << "in " << use.seconds << " s";
}

TEST_F(RestingWorkerOfDevice, StaysAwakeWhileTheDeviceHasATask) {
  codelets::device_task_begins(worker());
  EXPECT_TRUE(codelets::device_has_tasks(worker()));
  std::this_thread::sleep_for(20ms);  // a rest that had begun
  const Use use = use_within(200ms);
  constexpr double kOfOthers = 5;
  EXPECT_LT(use.switches, kRestsInASecond * use.seconds + kOfOthers)
      << "in " << use.seconds << " s";
  codelets::device_task_ends(worker());
  EXPECT_FALSE(codelets::device_has_tasks(worker()));
}

constexpr auto kWorkersTime = 400ms;
void write_nothing(void** /*buffers*/, void* /*arguments*/) {}
void keep_worker(void** /*buffers*/, void* /*arguments*/) {
  std::this_thread::sleep_for(kWorkersTime);
}

/// The data are on the device, whose worker is busy and cannot bring them.
TEST_F(RestingWorkerOfDevice, LetsAHostThatWaitsForItsDataRest) {
  starpu_codelet writes;
  starpu_codelet_init(&writes);
  writes.opencl_funcs[0] = write_nothing;
  writes.nbuffers = 1;
  writes.modes[0] = STARPU_W;
  starpu_codelet keeps;
  starpu_codelet_init(&keeps);
  keeps.opencl_funcs[0] = keep_worker;
  const auto data = DataHandle::temporary<double>(1000);
  starpu_task* const first = starpu_task_create();
  first->cl = &writes;
  first->handles[0] = data.get();
  ASSERT_EQ(starpu_task_submit(first), 0);
  starpu_task* const second = starpu_task_create();
  second->cl = &keeps;
  ASSERT_EQ(starpu_task_submit(second), 0);
  const double before = thread_seconds();
  const auto begin = std::chrono::steady_clock::now();
  { const HostAccess<double> access(data, STARPU_R); }
  EXPECT_GT(std::chrono::steady_clock::now() - begin, kWorkersTime / 2);
  EXPECT_LT(thread_seconds() - before, 0.1);
  ASSERT_EQ(starpu_task_wait_for_all(), 0);
}

}  // namespace
}  // namespace starpmc
