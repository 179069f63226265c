#include "bench/cell_runs.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "bench/measurement.hpp"
#include "codelets/operations.hpp"
#include "error.hpp"
#include "kernels/operations.hpp"
#include "runtime/data_handle.hpp"
#include "seconds_since.hpp"

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

/// The system's buffers as StarPU sees them, and energies for tasks side by side.
class Tasks {
 public:
  Tasks(CellSystem& system, std::size_t granularity)
      : sites_(static_cast<int>(system.sites())),
        granularity_(static_cast<int>(granularity)),
        pairs_(system.pairs() * static_cast<double>(granularity)),
        blocks_(static_cast<int>(system.receptor().block_count())),
        ligand_(DataHandle::of(system.ligand())),
        positions_(DataHandle::of(
            system.positions().first(granularity * static_cast<std::size_t>(pose_size(sites_))))),
        headers_(DataHandle::of(std::span(system.receptor().blocks))),
        receptor_(DataHandle::of(std::span(system.receptor().sites))) {
    keep_on_their_way(kFewestOnTheirWay * starpu_worker_get_count());
  }

  void keep_on_their_way(std::size_t tasks) {
    on_their_way_ = tasks;
    while (energies_.size() < kEnergiesPerTask * tasks) {
      energies_.push_back(
          DataHandle::temporary<double>(POSE_TERMS * static_cast<std::size_t>(granularity_)));
    }
  }

  void submit(std::size_t tasks) {
    for (std::size_t i = 0; i < tasks; ++i) {
      if (starpu_task_wait_for_n_submitted(static_cast<unsigned>(on_their_way_ - 1)) != 0) {
        throw RunError("StarPU does not say how many tasks are on their way");
      }
      codelets::pose_energies<float>(
          {0, 0, 0, COMBINATION_SUM, 1}, {sites_, granularity_, blocks_}, pairs_,
          {ligand_.get(), positions_.get(), headers_.get(), receptor_.get()},
          energies_[i % energies_.size()].get());
    }
  }

  /// Seconds of so many tasks; none is on its way afterwards.
  double run(std::size_t tasks) {
    const auto start = Clock::now();
    submit(tasks);
    starpu_task_wait_for_all();
    codelets::throw_if_failed();
    return seconds_since(start);
  }

 private:
  int sites_;
  int granularity_;
  double pairs_;
  int blocks_;
  std::size_t on_their_way_ = 0;
  DataHandle ligand_;
  DataHandle positions_;
  DataHandle headers_;
  DataHandle receptor_;
  std::vector<DataHandle> energies_;
};

/// Evaluations without tasks, on each CPU worker's thread.
struct CoreWork {
  const CellSystem& system;
  Implementation implementation;
  std::size_t granularity;
  double seconds;
  std::array<double, STARPU_NMAXWORKERS> evaluations_per_second{};

  static void on_worker(void* self) {
    auto& work = *static_cast<CoreWork*>(self);
    std::vector<double> energies(POSE_TERMS * work.granularity);
    const auto arguments = work.system.arguments<float>(work.granularity, 1, energies);
    std::size_t evaluations = 0;
    const auto start = Clock::now();
    do {
      if (work.implementation == Implementation::scalar) {
        scalar::pose_energies(arguments);
      } else {
        simd::pose_energies(arguments);
      }
      evaluations += work.granularity;
    } while (seconds_since(start) < work.seconds);
    work.evaluations_per_second[static_cast<std::size_t>(starpu_worker_get_id())] =
        static_cast<double>(evaluations) / seconds_since(start);
  }
};

}  // namespace

double core_seconds(const CellSystem& system, Implementation implementation,
                    std::size_t granularity, double seconds) {
  CoreWork work{system, implementation, granularity, seconds};
  starpu_execute_on_each_worker(CoreWork::on_worker, &work, STARPU_CPU);
  return 1 / std::accumulate(work.evaluations_per_second.begin(), work.evaluations_per_second.end(),
                             0.0);
}

double plain_seconds(const CellSystem& system, double seconds) {
  std::size_t evaluations = 1;
  double best = HUGE_VAL;
  const auto begin = Clock::now();
  const auto most = system.positions_count();
  std::vector<double> energies(POSE_TERMS * most);
  // What disturbs a measurement only makes it longer.
  int runs = 0;
  do {
    ++runs;
    const auto start = Clock::now();
    scalar::pose_energies(system.arguments<float>(
        evaluations, 1, std::span(energies).first(POSE_TERMS * evaluations)));
    best = std::min(best, seconds_since(start) / static_cast<double>(evaluations));
    evaluations = std::min(2 * evaluations, most);
  } while (seconds_since(begin) < seconds || runs < kRepetitions);
  return best;
}

CellTime task_seconds(CellSystem& system, std::size_t granularity, double seconds) {
  Tasks tasks(system, granularity);
  const std::size_t workers = starpu_worker_get_count();
  const std::size_t few = kFewestOnTheirWay * workers;
  tasks.run(std::max(kWarmUp, few));
  const double once = tasks.run(few) / static_cast<double>(few);
  tasks.keep_on_their_way(
      workers * std::clamp(static_cast<std::size_t>(kSecondsOnTheirWay /
                                                    (once * static_cast<double>(workers))),
                           kFewestOnTheirWay, kMostOnTheirWay));
  const auto fewest = static_cast<double>(workers > 1 ? kFewestTasksPerWorker * workers : few);
  const auto count = static_cast<std::size_t>(
      std::clamp(seconds / kRepetitions / once, fewest, static_cast<double>(kMostTasks)));
  const TaskTimes before = TaskTimes::take();
  double best = HUGE_VAL;
  for (int i = 0; i < kRepetitions; ++i) best = std::min(best, tasks.run(count));
  const double evaluations = static_cast<double>(count) * static_cast<double>(granularity);
  const double kernels = TaskTimes::take().since(before).seconds();
  return {best / evaluations, kernels / (kRepetitions * static_cast<double>(count))};
}

}  // namespace starpmc
