#pragma once

#include <cstddef>
#include <string>

/// How large a task of `score` is. A matter of speed: energies do not depend on it.
namespace starpmc {

/// The local store of an SPE of the Cell processor, which held code and data of a task; the L2
/// cache of a core today is at least that.
inline constexpr std::size_t kDefaultTaskMemory = 256 * 1024;

struct PlanRequest {
  std::size_t task_memory_bytes = kDefaultTaskMemory;
  std::size_t granularity = 0;  ///< poses per task; 0: chosen
  std::size_t ligand_sites = 0;
  std::size_t receptor_sites = 0;
  std::size_t receptor_blocks = 0;
  std::size_t block_bytes = 0;  ///< of a compact block of the receptor
  double poses_expected = 0;    ///< of the whole list; 0: not known
  std::string model;            ///< codelet's performance model
};

/// A task is a block of poses with a tile of the receptor.
struct TaskPlan {
  std::size_t blocks_per_tile = 1;  ///< a power of two, so that no sum depends on it
  std::size_t tiles = 1;
  std::size_t poses = 1;             ///< of a task
  std::size_t memory_bytes = 0;      ///< code and data of a task
  double expected_milliseconds = 0;  ///< of a task on the fastest worker; NaN: not measured yet
};

/// Half of the memory, at most, is for the tile, the rest for poses: as many as make the task long
/// beside StarPU's cost of a task, by the performance model, if they fit, and if that leaves
/// several tasks for each worker.
/// @throws InputError where not even one pose and one block fit
TaskPlan plan_tasks(const PlanRequest& request);

}  // namespace starpmc
