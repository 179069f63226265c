#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "kernels/precision.hpp"
#include "kernels/receptor_blocks.hpp"
#include "scoring/task_plan.hpp"
#include "system/geometry.hpp"

namespace starpmc {

/// Interaction of one pose with the receptor.
struct PoseEnergy {
  double coulomb_kj_per_mol = 0;
  double vdw_kj_per_mol = 0;
  double closest_angstrom = 0;  ///< least distance of two sites; NaN: none seen within the cutoff

  double total() const { return coulomb_kj_per_mol + vdw_kj_per_mol; }
  /// Sites nearer than the distance below which the energy no longer grows.
  bool overlaps() const { return closest_angstrom < STARPMC_MINIMUM_DISTANCE; }
};

/// What the energy of a pose is.
struct ScoringFunction {
  PoseInteraction interaction;
  double permittivity = 1;  ///< relative; per angstrom with distance_dependent
};

/// Energies of a stream of poses: tasks of StarPU, a bounded number of them on their way, results
/// in the order of the poses. Under a running StarpuRuntime.
class PoseScorer {
 public:
  /// Called for each pose in order, from add() and finish().
  using Listener = std::function<void(std::uint64_t pose, const PoseEnergy& energy)>;

  PoseScorer() = default;
  virtual ~PoseScorer() = default;  ///< waits for the tasks on their way
  PoseScorer(const PoseScorer&) = delete;
  PoseScorer& operator=(const PoseScorer&) = delete;

  /// @param positions of the ligand's sites, angstrom
  virtual void add(std::span<const Vector3> positions) = 0;
  /// Waits for all results.
  virtual void finish() = 0;
  virtual const TaskPlan& plan() const = 0;
  /// Pairs of sites of one pose.
  virtual double pairs() const = 0;
};

/// How the work is to be shared out.
struct ScorerSettings {
  std::size_t task_memory_bytes = kDefaultTaskMemory;
  std::size_t granularity = 0;  ///< poses per task; 0: chosen
  double poses_expected = 0;    ///< 0: not known
};

/// @param ligand    its charges and 12-6 parameters; positions are not used
/// @throws InputError for a task memory that is too small; add() in fixed precision also for a pose
///   that is STARPMC_LARGEST_FIXED_EXTENT or more from some of the receptor
std::unique_ptr<PoseScorer> make_pose_scorer(const ReceptorSites& receptor,
                                             const ReceptorSites& ligand,
                                             const ScoringFunction& function, Precision precision,
                                             const ScorerSettings& settings,
                                             PoseScorer::Listener listener);

}  // namespace starpmc
