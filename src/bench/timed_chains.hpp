#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/bench_system.hpp"
#include "bench/measurement.hpp"
#include "bench/step_observers.hpp"
#include "bench/target.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

/// Chains of a system that make their steps side by side, each submitted by a thread of its own.
class TimedChains {
 public:
  /// @param target      where they will run: what a task is may depend on it
  /// @param preparation where their starting energies are computed
  /// @param reference   in the place of the density; null: none
  TimedChains(const BenchSystem& bench, const Settings& settings, unsigned count,
              const BenchTarget& target, const BenchTarget& preparation,
              const std::shared_ptr<const ReferenceTables>& reference);

  /// What segments of all chains took.
  struct Outcome {
    double seconds = 0;
    double writing_seconds = 0;  ///< of all chains
    std::uint64_t steps = 0;
    std::uint64_t accepted = 0;
    std::uint64_t certified = 0;
    std::uint64_t windows = 0;
    TaskTimes tasks;

    void add(const Outcome& other);
  };

  /// Fills caches, compiles kernels, moves data, finds out how many steps fill a time; until the
  /// speed is steady, but no longer than `seconds`.
  void warm_up(double seconds);
  /// Of all chains together, as of late.
  double seconds_per_step() const;
  /// Of each chain, from its first step on; to be asked before run_for().
  std::vector<std::vector<bool>> first_decisions() const;

  /// One segment of each chain, of as many steps in each, that takes about so long.
  /// @param write files as a run does
  Outcome run_for(double seconds, bool write);
  /// One of so many steps in each.
  Outcome run(std::uint64_t steps, bool write = false);

 private:
  struct Member {
    std::unique_ptr<Chain> chain;
    unsigned number = 0;
    std::uint64_t step = 0;
    double steps_per_second = 0;
    CountingObserver observer;
    double writing_seconds = 0;  ///< of the last segment
  };

  void advance(Member& member, std::uint64_t steps, bool write = false) const;
  void at_once(const std::function<void(Member&)>& body);

  const BenchSystem& bench_;
  Settings settings_;
  BenchTarget target_;
  std::vector<Member> members_;
};

}  // namespace starpmc
