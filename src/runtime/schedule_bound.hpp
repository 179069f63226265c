#pragma once

#include <span>
#include <vector>

/// How short a schedule could have been at best.
namespace starpmc::codelets {

/// Equal tasks.
struct TaskGroup {
  double count = 0;
  std::vector<double> seconds;  ///< of one, on each kind of worker; infinite: it cannot run there
};

/// No schedule takes less time than this, dependencies and transfers left aside and tasks taken for
/// divisible (the area bound, what starpu_bound_compute() finds): the linear programme of which
/// share of each group goes to which kind of worker. Exact for two kinds; with more it may come out
/// a little lower.
/// @param workers of each kind
/// @return s; infinite where a group can run nowhere
double area_bound(std::span<const TaskGroup> groups, std::span<const unsigned> workers);

struct ScheduleBound {
  double area_seconds = 0;
  /// Of a chain's windows and QM updates, one after another, each on the worker that is fastest
  /// with it.
  double chain_seconds = 0;

  double seconds() const { return area_seconds > chain_seconds ? area_seconds : chain_seconds; }
};

/// Of the tasks that have been counted, by what the models expect of them. What StarPU computes
/// itself knows its own histories only, which the codelets' models are not.
/// @param chains that made them
ScheduleBound schedule_bound(unsigned chains);

}  // namespace starpmc::codelets
