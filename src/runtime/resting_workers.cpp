#include "runtime/resting_workers.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "base/environment.hpp"
#include "runtime/device_failure.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Within a run of tasks the next one comes sooner.
constexpr Clock::duration kAwake = 2ms;
/// A worker rests for at most this fraction of the time it has been idle, so that a new task waits
/// at most 5 % longer than the worker has waited for it.
constexpr int kShareOfIdleTime = 20;
constexpr Clock::duration kLongestRest = 250us;

starpu_sched_policy resting_policy;
/// None where the scheduler gives all tasks to workers' own lists.
starpu_task* (*pop_of_scheduler)(unsigned context);

/// The worker is in the middle of asking for a task: others may give it one only when it says so.
void rest(Clock::duration time) {
  starpu_worker_relax_on();
  std::this_thread::sleep_for(time);
  starpu_worker_relax_off();
}

starpu_task* pop_or_rest(unsigned context) {
  thread_local std::optional<Clock::time_point> idle_since;
  starpu_task* const task = pop_of_scheduler == nullptr ? nullptr : pop_of_scheduler(context);
  const int worker = starpu_worker_get_id();
  if (task != nullptr || worker < 0 || codelets::device_has_tasks(worker)) {
    idle_since.reset();
    return task;
  }
  const Clock::time_point now = Clock::now();
  if (!idle_since) idle_since = now;
  const Clock::duration idle = now - *idle_since;
  if (idle > kAwake) rest(std::min(idle / kShareOfIdleTime, kLongestRest));
  return nullptr;
}

const starpu_sched_policy* find_scheduler(const std::string& name) {
  for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); *policy != nullptr;
       ++policy) {
    if ((*policy)->policy_name != nullptr && name == (*policy)->policy_name) return *policy;
  }
  return nullptr;
}

}  // namespace

int start_starpu(starpu_conf& conf) {
  const std::string scheduler = environment("STARPU_SCHED");
  const starpu_sched_policy* const policy = find_scheduler(scheduler);
#ifdef STARPU_SIMGRID
  constexpr bool kRests = false;  // the simulated time does not go on by itself
#else
  constexpr bool kRests = true;
#endif
  if (!kRests || policy == nullptr) return starpu_init(&conf);
  resting_policy = *policy;
  pop_of_scheduler = policy->pop_task;
  resting_policy.pop_task = pop_or_rest;
  conf.sched_policy = &resting_policy;
  conf.sched_policy_name = nullptr;
  unsetenv("STARPU_SCHED");  // it goes before what the program asks for
  const int status = starpu_init(&conf);
  setenv("STARPU_SCHED", scheduler.c_str(), 1);
  return status;
}

}  // namespace starpmc
