#include "scoring/task_plan.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/arguments.hpp"
#include "kernels/base/error.hpp"
#include "runtime/codelet.hpp"

namespace starpmc {
namespace {

/// Machine code of a pose_energies kernel, less than this in every instruction set.
constexpr std::size_t kCodeBytes = 16 * 1024;
/// StarPU's cost of a task is some 10 us: one per cent.
constexpr double kTaskMilliseconds = 1;
constexpr double kTasksPerWorker = 4;
/// Without measurements: what a core with AVX-512 does.
constexpr double kGuessedPairsPerMillisecond = 2e6;

std::size_t pose_bytes(std::size_t sites) {
  return (static_cast<std::size_t>(pose_size(static_cast<int>(sites))) + POSE_TERMS) *
         sizeof(double);
}

std::size_t largest_tile(std::size_t blocks, std::size_t block_bytes, std::size_t bytes) {
  std::size_t tile = 1;
  while (tile < blocks && 2 * tile * block_bytes <= bytes) tile *= 2;
  return tile;
}

/// Of the fastest worker; NaN where nothing has been measured.
double expected_milliseconds(const std::string& model, double pairs) {
  double fastest = std::nan("");
  for (const double time : codelets::expected_milliseconds(model, pairs)) {
    fastest = std::fmin(fastest, time);
  }
  return fastest;
}

/// Most poses of a task that leave several tasks for each worker.
std::size_t share_of_workers(const PlanRequest& request, std::size_t tiles) {
  if (request.poses_expected <= 0) return std::numeric_limits<std::size_t>::max();
  const double tasks = kTasksPerWorker * std::max(1U, starpu_worker_get_count());
  const double share = std::ceil(request.poses_expected * static_cast<double>(tiles) / tasks);
  return static_cast<std::size_t>(std::clamp(share, 1.0, 1e9));
}

/// Fewest poses of a task that is long enough.
std::size_t poses_worth_a_task(const std::string& model, double pairs_of_a_pose, std::size_t most) {
  std::size_t poses = 1;
  while (poses < most) {
    const double pairs = static_cast<double>(poses) * pairs_of_a_pose;
    const double measured = expected_milliseconds(model, pairs);
    const double time = std::isnan(measured) ? pairs / kGuessedPairsPerMillisecond : measured;
    if (time >= kTaskMilliseconds) break;
    poses = std::min(2 * poses, most);
  }
  return poses;
}

}  // namespace

TaskPlan plan_tasks(const PlanRequest& request) {
  const std::size_t pose = pose_bytes(request.ligand_sites);
  const std::size_t ligand = LIGAND_FIELDS * request.ligand_sites * sizeof(double);
  const std::size_t least = kCodeBytes + 2 * request.block_bytes;
  if (request.task_memory_bytes < least) {
    throw InputError("--task-memory", "not even the kernel and two blocks of the receptor fit",
                     fmt::format("{} KiB", request.task_memory_bytes / 1024),
                     fmt::format("give at least {} KiB", (least + 1023) / 1024));
  }
  const std::size_t available = request.task_memory_bytes - kCodeBytes;
  const std::size_t beside_one_pose = available - std::min(ligand + pose, available);
  TaskPlan plan;
  plan.blocks_per_tile = largest_tile(request.receptor_blocks, request.block_bytes,
                                      std::min(available / 2, beside_one_pose));
  plan.tiles = (request.receptor_blocks + plan.blocks_per_tile - 1) / plan.blocks_per_tile;
  const std::size_t tile =
      std::min(plan.blocks_per_tile, request.receptor_blocks) * request.block_bytes;
  const double tile_sites =
      static_cast<double>(request.receptor_sites) / static_cast<double>(plan.tiles);
  const double pairs = static_cast<double>(request.ligand_sites) * tile_sites;
  plan.poses = request.granularity;
  if (plan.poses == 0) {
    const std::size_t left = available - std::min(tile + ligand, available);
    const std::size_t most =
        std::min(std::max<std::size_t>(left / pose, 1), share_of_workers(request, plan.tiles));
    plan.poses = poses_worth_a_task(request.model, pairs, most);
  }
  plan.memory_bytes = kCodeBytes + ligand + tile + plan.poses * pose;
  plan.expected_milliseconds =
      expected_milliseconds(request.model, pairs * static_cast<double>(plan.poses));
  return plan;
}

}  // namespace starpmc
