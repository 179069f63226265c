#include "bench/cell_runs.hpp"

#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/measurement.hpp"
#include "codelets/operations.hpp"
#include "kernels/operations.hpp"
#include "runtime/data_handle.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

/// Data of tasks on their way, so that they do not wait for one another.
constexpr std::size_t kTasksPerWorker = 4;
/// StarPU asks for ten of each size before it trusts its history.
constexpr std::size_t kWarmUp = 12;
constexpr std::size_t kMostTasks = 100'000;
constexpr int kRepetitions = 3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

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
    const std::size_t count = kTasksPerWorker * starpu_worker_get_count();
    for (std::size_t i = 0; i < count; ++i) {
      energies_.push_back(DataHandle::temporary<double>(POSE_TERMS * granularity));
    }
  }

  void submit(std::size_t tasks) {
    for (std::size_t i = 0; i < tasks; ++i) {
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

  std::size_t side_by_side() const { return energies_.size(); }

 private:
  int sites_;
  int granularity_;
  double pairs_;
  int blocks_;
  DataHandle ligand_;
  DataHandle positions_;
  DataHandle headers_;
  DataHandle receptor_;
  std::vector<DataHandle> energies_;
};

}  // namespace

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
  tasks.run(std::max(kWarmUp, tasks.side_by_side()));
  const double once = tasks.run(tasks.side_by_side()) / static_cast<double>(tasks.side_by_side());
  const auto count = static_cast<std::size_t>(std::clamp(seconds / kRepetitions / once,
                                                         static_cast<double>(tasks.side_by_side()),
                                                         static_cast<double>(kMostTasks)));
  const TaskTimes before = TaskTimes::take();
  double best = HUGE_VAL;
  for (int i = 0; i < kRepetitions; ++i) best = std::min(best, tasks.run(count));
  const double evaluations = static_cast<double>(count) * static_cast<double>(granularity);
  const double kernels = TaskTimes::take().since(before).seconds();
  return {best / evaluations, kernels / (kRepetitions * static_cast<double>(count))};
}

}  // namespace starpmc
