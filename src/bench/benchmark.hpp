#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/bench_system.hpp"
#include "bench/contestant.hpp"
#include "bench/pose_timing.hpp"
#include "bench/target.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

/// What `starpmc bench` was asked to measure.
struct BenchRequest {
  std::vector<BenchPreset> systems;
  BenchOverrides overrides;
  bool grid = false;    ///< the grid term
  bool mm = false;      ///< the MM terms
  bool other = false;   ///< every other operation
  bool steps = false;   ///< whole steps
  bool errors = false;  ///< errors of the precisions
  bool poses = false;   ///< the kernel of `starpmc score`
  bool roots = false;   ///< accuracy of its estimated root
  std::vector<Implementation> implementations;
  std::vector<Precision> precisions;
  std::vector<Functions> functions{Functions::built_in};
  std::optional<WorkerChoice> workers;  ///< one for operations and both for steps by default
  std::uint32_t window = 0;             ///< 0: chosen by the program
  std::uint64_t interval_steps = 0;     ///< whole steps in intervals of so many; 0: as time allows
  std::vector<unsigned> chains;
  double seconds = 1;  ///< per case
  std::size_t proposals = 10'000;
  bool certified = true;  ///< decisions of whole steps
  bool write = false;     ///< whole steps with the files of a run
  /// Of the responses of synthetic references, each a case of whole steps; empty: the densities.
  std::vector<unsigned> components;
  PoseTimingRequest pose_timing;

  bool any_operation() const { return grid || mm || other; }
  bool any_of_system() const { return any_operation() || steps || errors; }
};

/// Told of each group of cases as soon as they are measured.
using BenchListener =
    std::function<void(const std::string& title, const std::vector<BenchCase>& cases)>;

/// Measures everything, one case after another; different functions in turn.
/// @throws InputError for a system that cannot be made as asked; RunError when a device fails
void run_benchmark(const BenchRequest& request, const StarpuRuntime& runtime,
                   const BenchListener& listener);

}  // namespace starpmc
