#pragma once

#include <cstddef>
#include <vector>

#include "bench/cell_system.hpp"
#include "codelets/task_recording.hpp"
#include "config/settings.hpp"

namespace starpmc {

/// Seconds of one evaluation with the plain kernel, called directly.
double plain_seconds(const CellSystem& system, double seconds);

/// One evaluation through StarPU's tasks.
struct CellTime {
  double evaluation_seconds = 0;  ///< of the wall clock: all workers together
  double task_seconds = 0;        ///< of a task, as StarPU saw it on the worker
};

/// Tasks of `granularity` evaluations, for about `seconds`, on the workers and with the
/// implementations that are allowed. Under a running StarpuRuntime.
CellTime task_seconds(CellSystem& system, std::size_t granularity, double seconds);

/// Seconds of one evaluation where all CPU workers' threads make `granularity` evaluations again
/// and again for `seconds`, without tasks: what the cores themselves give when all of them work.
double core_seconds(const CellSystem& system, Implementation implementation,
                    std::size_t granularity, double seconds);

}  // namespace starpmc
