#include "runtime/schedule_bound.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/codelet.hpp"

namespace starpmc::codelets {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The value of the dual programme: at the optimum it is the bound, elsewhere a lower one.
/// @param prices of a second of a worker of each kind; those of all workers together are 1
double dual_value(std::span<const TaskGroup> groups, std::span<const double> prices) {
  double sum = 0;
  for (const TaskGroup& group : groups) {
    double cheapest = kNever;
    for (std::size_t kind = 0; kind < prices.size(); ++kind) {
      if (std::isinf(group.seconds[kind])) continue;
      cheapest = std::min(cheapest, prices[kind] * group.seconds[kind]);
    }
    sum += group.count * cheapest;
  }
  return sum;
}

/// The best prices of two kinds where those of the others stay. Between prices at which a group
/// changes its kind, the value is a straight line.
double improve(std::span<const TaskGroup> groups, std::span<const unsigned> workers,
               std::vector<double>& prices, std::size_t one, std::size_t other) {
  const double both = workers[one] * prices[one] + workers[other] * prices[other];
  std::vector<double> candidates{0, both / workers[one], prices[one]};
  const auto add = [&](double price) {
    if (price > 0 && price < both / workers[one]) candidates.push_back(price);
  };
  for (const TaskGroup& group : groups) {
    const double a = group.seconds[one];
    const double b = group.seconds[other];
    // price a = (both - workers price) / workers_of_other b
    add(both * b / (workers[other] * a + workers[one] * b));
    for (std::size_t kind = 0; kind < prices.size(); ++kind) {
      if (kind == one || kind == other) continue;
      const double elsewhere = prices[kind] * group.seconds[kind];
      add(elsewhere / a);
      add((both - workers[other] * elsewhere / b) / workers[one]);
    }
  }
  double best = -1;
  double best_price = prices[one];
  for (const double price : candidates) {
    prices[one] = price;
    prices[other] = std::max(0.0, (both - workers[one] * price) / workers[other]);
    const double value = dual_value(groups, prices);
    if (value > best) {
      best = value;
      best_price = price;
    }
  }
  prices[one] = best_price;
  prices[other] = std::max(0.0, (both - workers[one] * best_price) / workers[other]);
  return best;
}

/// Workers of one kind share their models.
struct Kinds {
  std::vector<int> first;         ///< a worker of each
  std::vector<unsigned> workers;  ///< how many
};

Kinds kinds_of_workers() {
  Kinds kinds;
  std::map<std::pair<int, int>, std::size_t> known;
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    const int worker = static_cast<int>(id);
    const starpu_perfmodel_arch& arch =
        *starpu_worker_get_perf_archtype(worker, STARPU_NMAX_SCHED_CTXS);
    const auto [place, is_new] =
        known.try_emplace({arch.devices[0].type, arch.devices[0].devid}, kinds.first.size());
    if (is_new) {
      kinds.first.push_back(worker);
      kinds.workers.push_back(0);
    }
    ++kinds.workers[place->second];
  }
  return kinds;
}

/// Mean of a codelet's tasks on one kind of worker, where the model has nothing.
double mean_seconds(const Codelet& codelet) {
  double tasks = 0;
  double nanoseconds = 0;
  for (const auto& slot : codelet.statistics().counters) {
    for (const auto& counter : slot) {
      tasks += static_cast<double>(counter.tasks.load());
      nanoseconds += static_cast<double>(counter.nanoseconds.load());
    }
  }
  return tasks > 0 ? 1e-9 * nanoseconds / tasks : 0;
}

/// By which implementation a worker may run tasks of a codelet.
std::optional<unsigned> implementation_of(const Codelet& codelet, int worker) {
  if (codelet.has_opencl()) return implementation_on(worker);
  if (starpu_worker_get_type(worker) == STARPU_OPENCL_WORKER) return {};
  return 0;
}

TaskGroup group_of(const Codelet& codelet, std::uint32_t size, const Kinds& kinds) {
  TaskGroup group{static_cast<double>(codelet.statistics().sizes[size].load()), {}};
  TaskHistory& history = TaskHistory::of(codelet.name());
  for (const int worker : kinds.first) {
    const auto implementation = implementation_of(codelet, worker);
    const double microseconds =
        implementation ? history.estimate(worker, *implementation, bucket_work(size)) : kNever;
    group.seconds.push_back(std::isnan(microseconds) ? kNever : 1e-6 * microseconds);
  }
  if (std::ranges::all_of(group.seconds, [](double s) { return std::isinf(s); })) {
    std::ranges::fill(group.seconds, mean_seconds(codelet));
  }
  return group;
}

/// Whether a chain's next task of this kind, and all others of its next window, wait for this one.
bool is_serial(const Codelet& codelet) {
  constexpr std::array<std::string_view, 5> kSerial{
      "propose_moves", "metropolis_decide", "sample_windows", "qm_update", "qm_update_on_gpu"};
  return std::ranges::find(kSerial, parsed_name(codelet.name()).operation) != kSerial.end();
}

}  // namespace

double area_bound(std::span<const TaskGroup> groups, std::span<const unsigned> workers) {
  if (groups.empty() || workers.empty()) return 0;
  double all = 0;
  for (const unsigned count : workers) all += count;
  std::vector<double> prices(workers.size(), 1 / all);
  double bound = dual_value(groups, prices);
  constexpr int kMostRounds = 20;
  constexpr double kBetter = 1 + 1e-6;
  for (int round = 0; round < kMostRounds; ++round) {
    const double before = bound;
    for (std::size_t one = 0; one < workers.size(); ++one) {
      for (std::size_t other = one + 1; other < workers.size(); ++other) {
        bound = std::max(bound, improve(groups, workers, prices, one, other));
      }
    }
    if (!(bound > kBetter * before)) break;
  }
  return bound;
}

ScheduleBound schedule_bound(unsigned chains) {
  const Kinds kinds = kinds_of_workers();
  std::vector<TaskGroup> groups;
  double serial = 0;
  for (const Codelet* const codelet : Codelet::all()) {
    for (std::uint32_t size = 0; size < Durations::kBuckets; ++size) {
      if (codelet->statistics().sizes[size].load() == 0) continue;
      groups.push_back(group_of(*codelet, size, kinds));
      if (is_serial(*codelet))
        serial += groups.back().count * std::ranges::min(groups.back().seconds);
    }
  }
  // Of the longest chain; no shorter than the mean.
  return {area_bound(groups, kinds.workers), serial / std::max(chains, 1U)};
}

}  // namespace starpmc::codelets
