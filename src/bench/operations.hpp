#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench_system.hpp"
#include "bench/planned_window.hpp"
#include "sampling/chain_state.hpp"
#include "sampling/window_loads.hpp"

namespace starpmc {

/// Which part of a step an operation belongs to.
enum class OperationGroup { grid, mm, other };

/// A task of a window that can be submitted again and again.
struct BenchOperation {
  std::string name;
  OperationGroup group;
  double pairs;  ///< pair energies of a task, mean over the windows; 0: none
  std::function<void(std::size_t window)> submit;
};

/// A system's data as a chain holds them.
template <class Real>
struct BenchData {
  const BenchSystem& bench;
  ChainData<Real> chain;

  explicit BenchData(const BenchSystem& system);
};

template <class Real>
WindowLoads<Real> loads_of(const BenchSystem& bench) {
  return {static_cast<double>(bench.system.molecules.size()),
          static_cast<double>(bench.system.max_sites()), static_cast<double>(bench.grid.size())};
}

/// How much work a task is.
struct TaskExtent {
  int steps;               ///< of a window
  double potential_pairs;  ///< of grid_potential, about
};

/// Windows from a system's starting configuration, evaluated once, so that every operation has its
/// input. Tasks of different windows do not depend on each other.
template <class Real>
class BenchWindows {
 public:
  BenchWindows(BenchData<Real>& data, const TaskExtent& extent, std::size_t windows);
  BenchWindows(const BenchWindows&) = delete;
  BenchWindows& operator=(const BenchWindows&) = delete;

  std::size_t size() const { return windows_.size(); }
  double steps_per_window() const;
  /// Every operation of a window but metropolis_decide, which changes what it works on. They refer
  /// to this object.
  std::vector<BenchOperation> operations() const;
  /// Runs every operation of the first window and tells its energies, kJ/mol: of each candidate
  /// with the nuclei and the grid, and of each entry with the MM molecules.
  std::vector<double> energies() const;
  /// Share of the grid's pairs whose compact block reaches into the site's cutoff: the others need
  /// no computation.
  double share_within_reach() const;

 private:
  struct Prepared {
    PlannedWindow planned;
    WindowBuffers<Real> buffers;
    codelets::WindowArguments arguments;
    codelets::WindowHandles handles;
    DataHandle potential;
  };
  Prepared prepare(PlannedWindow planned) const;
  template <class Count>
  double mean(Count count) const;
  void add_grid_operations(std::vector<BenchOperation>& operations) const;
  void add_mm_operations(std::vector<BenchOperation>& operations) const;
  void add_field_operations(std::vector<BenchOperation>& operations) const;

  BenchData<Real>& data_;
  std::unique_ptr<BlockedPoints<double>> potential_points_;  ///< of grid_potential; null: none
  std::vector<Prepared> windows_;
};

}  // namespace starpmc
