#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/target.hpp"

namespace starpmc {

/// How the kernel of `starpmc score` is timed: Coulomb energies in single precision (PoseWorkload).
struct PoseTimingRequest {
  std::vector<unsigned> particles{128};
  std::vector<unsigned> evaluations{512};  ///< of a task
  std::uint64_t seed = 1;                  ///< of the random charges
  double seconds = 1;
  bool timeline = false;  ///< with the tasks of one short run more
};

/// Tasks of more, some seconds, are left out.
inline constexpr double kMostPairsOfPoses = 1e9;

/// Of a task: half of the particles with the other half.
constexpr double pairs_of_poses(unsigned particles, unsigned evaluations) {
  const unsigned half = particles / 2;
  return static_cast<double>(half) * half * evaluations;
}

/// A case for each target, number of particles and number of evaluations with no more than
/// kMostPairsOfPoses. On cores, the threads of the workers also evaluate without
/// tasks, in turn with the tasks ("taskless"): cores that share hardware are slower together,
/// whatever hands out their work. Under a running StarpuRuntime.
std::vector<BenchCase> time_poses(const PoseTimingRequest& request,
                                  std::span<const BenchTarget> targets);

}  // namespace starpmc
