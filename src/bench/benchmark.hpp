#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/bench_system.hpp"
#include "bench/contestant.hpp"
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
  std::vector<Implementation> implementations;
  std::vector<Precision> precisions;
  std::vector<Functions> functions{Functions::built_in};
  std::uint32_t window = 0;  ///< 0: chosen by the program
  std::vector<unsigned> chains;
  double seconds = 1;  ///< per case
  std::size_t proposals = 10'000;
  bool certified = true;  ///< decisions of whole steps
  bool against_paper = false;

  bool any_operation() const { return grid || mm || other; }
};

/// Told of each group of cases as soon as they are measured.
using BenchListener =
    std::function<void(const std::string& title, const std::vector<BenchCase>& cases)>;

/// Measures everything, one case after another; different functions in turn.
/// @throws InputError for a system that cannot be made as asked; RunError when a device fails
void run_benchmark(const BenchRequest& request, const StarpuRuntime& runtime,
                   const BenchListener& listener);

}  // namespace starpmc
