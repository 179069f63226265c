#include "bench/pose_timing.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/seconds_since.hpp"
#include "bench/measurement.hpp"
#include "bench/pose_workload.hpp"
#include "codelets/operations.hpp"
#include "config/value_names.hpp"
#include "kernels/base/error.hpp"
#include "kernels/operations.hpp"
#include "runtime/data_handle.hpp"
#include "runtime/task_recording.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

/// On their way at a time, for each worker. What is given to a worker long before it begins would
/// keep the others waiting at the end where that worker is slowed (two virtual cores on one of the
/// host's); but short tasks must be there before their worker asks.
constexpr std::size_t kFewestOnTheirWay = 2;
constexpr std::size_t kMostOnTheirWay = 64;
constexpr double kSecondsOnTheirWay = 2e-3;
/// So many more energies than tasks on their way that none waits for another's.
constexpr std::size_t kEnergiesPerTask = 4;
/// The tasks do not end at once: what of the workers' time is then lost is a 64th at the most.
constexpr std::size_t kFewestTasksPerWorker = 64;
/// StarPU asks for ten of each size before it trusts its history.
constexpr std::size_t kWarmUp = 12;
constexpr std::size_t kMostTasks = 100'000;
constexpr int kRepetitions = 3;
/// Tasks and bare cores in turn: what a machine gives may change from second to second.
constexpr int kRounds = 2;

/// The workload's buffers as StarPU sees them, and energies for tasks side by side.
class Tasks {
 public:
  Tasks(PoseWorkload& workload, std::size_t evaluations, std::size_t workers)
      : sites_(static_cast<int>(workload.sites())),
        evaluations_(static_cast<int>(evaluations)),
        workers_(workers),
        pairs_(workload.pairs() * static_cast<double>(evaluations)),
        blocks_(static_cast<int>(workload.receptor().block_count())),
        ligand_(DataHandle::of(workload.ligand())),
        positions_(DataHandle::of(
            workload.positions().first(evaluations * static_cast<std::size_t>(pose_size(sites_))))),
        headers_(DataHandle::of(std::span(workload.receptor().blocks))),
        receptor_(DataHandle::of(std::span(workload.receptor().sites))) {
    const std::size_t few = kFewestOnTheirWay * workers;
    keep_on_their_way(few);
    run(std::max(kWarmUp, few));
    seconds_of_one_ = run(few) / static_cast<double>(few);
    const double of_a_worker = seconds_of_one_ * static_cast<double>(workers);
    keep_on_their_way(workers *
                      std::clamp(static_cast<std::size_t>(kSecondsOnTheirWay / of_a_worker),
                                 kFewestOnTheirWay, kMostOnTheirWay));
  }

  /// So many that they take about this time, but enough for all workers to be busy to the end.
  std::size_t count_for(double seconds) const {
    const std::size_t fewest = workers_ > 1 ? kFewestTasksPerWorker * workers_ : kFewestOnTheirWay;
    return std::max(fewest, static_cast<std::size_t>(std::min(seconds / seconds_of_one_,
                                                              static_cast<double>(kMostTasks))));
  }

  /// Seconds of so many tasks; none is on its way afterwards.
  double run(std::size_t tasks) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < tasks; ++i) {
      if (starpu_task_wait_for_n_submitted(static_cast<unsigned>(on_their_way_ - 1)) != 0) {
        throw RunError("StarPU does not say how many tasks are on their way");
      }
      codelets::pose_energies<float>(
          {0, 0, 0, COMBINATION_SUM, 1}, {sites_, evaluations_, blocks_}, pairs_,
          {ligand_.get(), positions_.get(), headers_.get(), receptor_.get()},
          energies_[i % energies_.size()].get());
    }
    starpu_task_wait_for_all();
    codelets::throw_if_failed();
    return seconds_since(start);
  }

 private:
  void keep_on_their_way(std::size_t tasks) {
    on_their_way_ = tasks;
    while (energies_.size() < kEnergiesPerTask * tasks) {
      energies_.push_back(
          DataHandle::temporary<double>(POSE_TERMS * static_cast<std::size_t>(evaluations_)));
    }
  }

  int sites_;
  int evaluations_;
  std::size_t workers_;
  double pairs_;
  int blocks_;
  std::size_t on_their_way_ = 0;
  double seconds_of_one_ = 0;
  DataHandle ligand_;
  DataHandle positions_;
  DataHandle headers_;
  DataHandle receptor_;
  std::vector<DataHandle> energies_;
};

/// Evaluations without tasks, on the threads of CPU workers.
struct CoreWork {
  const PoseWorkload& workload;
  Implementation implementation;
  std::size_t evaluations;
  double seconds;
  std::array<double, STARPU_NMAXWORKERS> evaluations_per_second{};

  static void on_worker(void* self) {
    auto& work = *static_cast<CoreWork*>(self);
    std::vector<double> energies(POSE_TERMS * work.evaluations);
    const auto arguments = work.workload.arguments<float>(work.evaluations, 1, energies);
    std::size_t evaluations = 0;
    const auto start = Clock::now();
    do {
      if (work.implementation == Implementation::scalar) {
        scalar::pose_energies(arguments);
      } else {
        simd::pose_energies(arguments);
      }
      evaluations += work.evaluations;
    } while (seconds_since(start) < work.seconds);
    work.evaluations_per_second[static_cast<std::size_t>(starpu_worker_get_id())] =
        static_cast<double>(evaluations) / seconds_since(start);
  }

  /// Seconds of an evaluation, of all the target's workers together.
  double run(const BenchTarget& target) {
    if (target.worker == codelets::kAnyWorker) {
      starpu_execute_on_each_worker(on_worker, this, STARPU_CPU);
    } else {
      auto worker = static_cast<unsigned>(target.worker);
      starpu_execute_on_specific_workers(on_worker, this, 1, &worker, "taskless");
    }
    return 1 / std::accumulate(evaluations_per_second.begin(), evaluations_per_second.end(), 0.0);
  }
};

std::vector<TaskSpan> timeline_of(Tasks& tasks) {
  const codelets::TaskRecording recording;
  tasks.run(tasks.count_for(0));
  std::vector<codelets::TaskRecord> records = recording.records();
  std::ranges::sort(records, {}, &codelets::TaskRecord::submitted);
  std::vector<TaskSpan> spans;
  const double zero = records.front().submitted;
  for (const codelets::TaskRecord& record : records) {
    spans.push_back({record.worker, 1e3 * (record.submitted - zero), 1e3 * (record.started - zero),
                     1e3 * (record.ended - zero)});
  }
  return spans;
}

BenchCase time_case(PoseWorkload& workload, std::size_t evaluations, const BenchTarget& target,
                    const PoseTimingRequest& request) {
  target.use();
  const double share = request.seconds / kRounds;
  const bool on_cores = target.implementation == Implementation::scalar ||
                        target.implementation == Implementation::simd;
  Tasks tasks(workload, evaluations, target.workers);
  const std::size_t count = tasks.count_for(share / kRepetitions);
  double best = HUGE_VAL;
  double taskless = HUGE_VAL;
  const TaskTimes before = TaskTimes::take();
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kRepetitions; ++i) best = std::min(best, tasks.run(count));
    if (!on_cores) continue;
    CoreWork work{workload, target.implementation, evaluations, share};
    taskless = std::min(taskless, work.run(target));
  }
  const double kernels = TaskTimes::take().since(before).seconds();
  const auto poses = static_cast<double>(evaluations);
  const auto all = static_cast<double>(count);
  BenchCase result{
      "poses",
      "",
      value_name(target.implementation),
      value_name(Precision::mixed),
      target.device,
      {{"particles", 2 * static_cast<double>(workload.sites())},
       {"evaluations_per_task", poses},
       {"pairs_per_task", workload.pairs() * poses},
       {"microseconds_per_task", 1e6 * best / all},
       {"kernel_microseconds_per_task", 1e6 * kernels / (kRounds * kRepetitions * all)},
       {"microseconds_per_evaluation", 1e6 * best / (all * poses)}}};
  if (on_cores) {
    result.figures.push_back({"taskless_microseconds_per_evaluation", 1e6 * taskless});
  }
  if (request.timeline) result.tasks = timeline_of(tasks);
  return result;
}

}  // namespace

std::vector<BenchCase> time_poses(const PoseTimingRequest& request,
                                  std::span<const BenchTarget> targets) {
  std::vector<BenchCase> cases;
  for (const unsigned particles : request.particles) {
    std::vector<unsigned> fitting = request.evaluations;
    std::erase_if(fitting, [particles](unsigned evaluations) {
      return pairs_of_poses(particles, evaluations) > kMostPairsOfPoses;
    });
    if (fitting.empty()) continue;
    PoseWorkload workload(particles, std::ranges::max(fitting), request.seed);
    for (const BenchTarget& target : targets) {
      for (const unsigned evaluations : fitting) {
        cases.push_back(time_case(workload, evaluations, target, request));
      }
    }
  }
  return cases;
}

}  // namespace starpmc
