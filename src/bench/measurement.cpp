#include "bench/measurement.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/seconds_since.hpp"
#include "config/value_names.hpp"
#include "runtime/codelet.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

/// A batch long enough for the clock and for StarPU's pipeline to fill, short enough for a median.
constexpr double kBatchSeconds = 0.01;
constexpr std::uint64_t kLargestBatch = 1000;
constexpr double kMostBatches = 50;

void wait_for_tasks() {
  starpu_task_wait_for_all();
  codelets::throw_if_failed();
}

double timed_batch(std::uint64_t first, std::uint64_t tasks,
                   const std::function<void(std::uint64_t)>& submit) {
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < tasks; ++i) submit(first + i);
  wait_for_tasks();
  return seconds_since(start) / static_cast<double>(tasks);
}

/// One of those that are timed in turn.
class TimedBatches {
 public:
  TimedBatches(const TasksInTurn& tasks, double seconds) : tasks_(&tasks) {
    tasks.begin();
    timed_batch(next_++, 1, tasks.submit);  // moves data and compiles kernels, too
    const double once = timed_batch(next_++, 1, tasks.submit);
    batch_ = static_cast<std::uint64_t>(
        std::clamp(std::max(kBatchSeconds, seconds / kMostBatches) / once, 1.0,
                   static_cast<double>(kLargestBatch)));
  }

  void run_one() {
    tasks_->begin();
    const TaskTimes before = TaskTimes::take();
    times_.push_back(timed_batch(next_, batch_, tasks_->submit));
    next_ += batch_;
    const TaskTimes made = TaskTimes::take().since(before);
    std::uint64_t count = 0;
    for (const auto& [name, entry] : made.codelets) count += entry.tasks;
    total_ += count;
    kernel_times_.push_back(made.seconds() /
                            static_cast<double>(std::max(count, std::uint64_t{1})));
  }

  RepeatedTime result() { return {median(times_), median(kernel_times_), total_}; }

 private:
  const TasksInTurn* tasks_;
  std::uint64_t next_ = 0;
  std::uint64_t batch_ = 1;
  std::uint64_t total_ = 0;
  std::vector<double> times_;
  std::vector<double> kernel_times_;
};

double memory_mb(std::string_view field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != field) continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024e-6;
  }
  return 0;
}

}  // namespace

void TaskTimes::Entry::add(const Entry& other) {
  tasks += other.tasks;
  seconds += other.seconds;
  worker_tasks.resize(std::max(worker_tasks.size(), other.worker_tasks.size()));
  worker_seconds.resize(worker_tasks.size());
  for (std::size_t worker = 0; worker < other.worker_tasks.size(); ++worker) {
    worker_tasks[worker] += other.worker_tasks[worker];
    worker_seconds[worker] += other.worker_seconds[worker];
  }
}

void TaskTimes::Entry::subtract(const Entry& other) {
  tasks -= other.tasks;
  seconds -= other.seconds;
  for (std::size_t worker = 0; worker < other.worker_tasks.size(); ++worker) {
    worker_tasks[worker] -= other.worker_tasks[worker];
    worker_seconds[worker] -= other.worker_seconds[worker];
  }
}

TaskTimes TaskTimes::take() {
  wait_for_tasks();
  TaskTimes times;
  times.worker_seconds.resize(starpu_worker_get_count());
  for (const codelets::Codelet* codelet : codelets::Codelet::all()) {
    Entry& entry = times.codelets[codelet->name()];
    entry.worker_tasks.resize(times.worker_seconds.size());
    entry.worker_seconds.resize(times.worker_seconds.size());
    for (const auto& workers : codelet->statistics().counters) {
      for (std::size_t worker = 0; worker < times.worker_seconds.size(); ++worker) {
        const double seconds = 1e-9 * static_cast<double>(workers[worker].nanoseconds.load());
        const std::uint64_t tasks = workers[worker].tasks;
        entry.tasks += tasks;
        entry.seconds += seconds;
        entry.worker_tasks[worker] += tasks;
        entry.worker_seconds[worker] += seconds;
        times.worker_seconds[worker] += seconds;
      }
    }
  }
  return times;
}

TaskTimes TaskTimes::since(const TaskTimes& earlier) const {
  TaskTimes difference = *this;
  for (const auto& [name, entry] : earlier.codelets) {
    difference.codelets[name].subtract(entry);
  }
  for (std::size_t w = 0; w < earlier.worker_seconds.size(); ++w) {
    difference.worker_seconds[w] -= earlier.worker_seconds[w];
  }
  return difference;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

void TaskTimes::add(const TaskTimes& other) {
  for (const auto& [name, entry] : other.codelets) codelets[name].add(entry);
  worker_seconds.resize(std::max(worker_seconds.size(), other.worker_seconds.size()));
  for (std::size_t w = 0; w < other.worker_seconds.size(); ++w) {
    worker_seconds[w] += other.worker_seconds[w];
  }
}

double TaskTimes::seconds() const {
  double sum = 0;
  for (const double seconds : worker_seconds) sum += seconds;
  return sum;
}

double TaskTimes::busiest_seconds() const {
  return worker_seconds.empty() ? 0 : *std::ranges::max_element(worker_seconds);
}

std::map<std::string, TaskTimes::Entry> TaskTimes::operations() const {
  std::map<std::string, Entry> all;
  constexpr std::string_view kPrefix = "starpmc_";
  for (const auto& [codelet, entry] : codelets) {
    // What follows the operation is the precision, then perhaps the hash of a potential.
    for (const Precision precision : kPrecisions) {
      const auto end = (codelet + "_").find(fmt::format("_{}_", value_name(precision)));
      if (end == std::string::npos) continue;
      all[codelet.substr(kPrefix.size(), end - kPrefix.size())].add(entry);
    }
  }
  return all;
}

TaskTimes::Entry TaskTimes::operation(const std::string& name) const { return operations()[name]; }

std::vector<RepeatedTime> repeat_in_turn(double seconds, std::span<const TasksInTurn> rivals) {
  std::vector<TimedBatches> all;
  for (const TasksInTurn& tasks : rivals) all.emplace_back(tasks, seconds);
  const auto start = Clock::now();
  const double whole = seconds * static_cast<double>(rivals.size());
  std::size_t rounds = 0;
  do {
    for (TimedBatches& batches : all) batches.run_one();
    std::ranges::reverse(all);
    ++rounds;
  } while (seconds_since(start) < whole);
  if (rounds % 2 != 0) std::ranges::reverse(all);
  std::vector<RepeatedTime> results;
  for (TimedBatches& batches : all) results.push_back(batches.result());
  return results;
}

double resident_memory_mb() { return memory_mb("VmRSS:"); }
double peak_memory_mb() { return memory_mb("VmHWM:"); }

void reset_peak_memory() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace starpmc
