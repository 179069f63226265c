#include "bench/whole_steps.hpp"

#include <chrono>
#include <future>
#include <memory>

#include "bench/measurement.hpp"
#include "sampling/chain.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

class CountingObserver final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool accepted, const EnergyTerms&) override {
    ++steps_;
    accepted_ += accepted ? 1 : 0;
  }
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}
  std::uint64_t steps() const { return steps_; }
  std::uint64_t accepted() const { return accepted_; }

 private:
  std::uint64_t steps_ = 0;
  std::uint64_t accepted_ = 0;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Chains of a system, run at once for a time.
class Chains {
 public:
  Chains(const BenchSystem& bench, const WholeStepsSettings& settings,
         const BenchTarget& preparation) {
    Settings chain_settings = bench.settings;
    chain_settings.run.precision = settings.precision;
    chain_settings.sampling.window = settings.window;
    preparation.use();
    for (unsigned i = 0; i < settings.chains; ++i) {
      members_.push_back({make_chain(bench.system, chain_settings, i), 0, 0, {}});
      if (bench.grid.size() > 0) members_.back().chain->set_density(bench.grid);
      members_.back().chain->evaluate();
    }
  }

  struct Outcome {
    double seconds = 0;
    std::uint64_t steps = 0;
    std::uint64_t accepted = 0;
    TaskTimes tasks;
  };

  /// Fills caches, moves data, and finds out how many steps fill a time.
  void warm_up(double seconds) {
    at_once([seconds](Member& member) {
      std::uint64_t segment = 1;
      const auto start = Clock::now();
      do {
        const auto segment_start = Clock::now();
        advance(member, segment);
        const double time = seconds_since(segment_start);
        member.steps_per_second = static_cast<double>(segment) / time;
        if (time < seconds / 4) segment *= 2;
      } while (seconds_since(start) < seconds);
    });
  }

  /// One segment of each chain that takes about so long.
  Outcome run(double seconds) {
    for (Member& member : members_) member.observer = {};
    const TaskTimes before = TaskTimes::take();
    const auto start = Clock::now();
    at_once([seconds](Member& member) {
      advance(member, 1 + static_cast<std::uint64_t>(seconds * member.steps_per_second));
    });
    Outcome outcome{seconds_since(start), 0, 0, TaskTimes::take().since(before)};
    for (const Member& member : members_) {
      outcome.steps += member.observer.steps();
      outcome.accepted += member.observer.accepted();
    }
    return outcome;
  }

 private:
  struct Member {
    std::unique_ptr<Chain> chain;
    std::uint64_t step = 0;
    double steps_per_second = 0;
    CountingObserver observer;
  };

  static void advance(Member& member, std::uint64_t steps) {
    member.chain->run({member.step, steps, 0, 0}, member.observer);
    member.step += steps;
  }

  template <class Body>
  void at_once(Body body) {
    std::vector<std::future<void>> threads;
    for (Member& member : members_) {
      threads.push_back(std::async(std::launch::async, [&member, body] { body(member); }));
    }
    for (auto& thread : threads) thread.get();
  }

  std::vector<Member> members_;
};

constexpr double kWarmUpShare = 0.3;

}  // namespace

std::vector<Figure> time_whole_steps(const BenchSystem& bench, const WholeStepsSettings& settings,
                                     const BenchTarget& target, const BenchTarget& preparation) {
  reset_peak_memory();
  Chains chains(bench, settings, preparation);
  target.use();
  chains.warm_up(kWarmUpShare * settings.seconds);
  const Chains::Outcome outcome = chains.run(settings.seconds);

  const auto steps = static_cast<double>(outcome.steps);
  const auto windows = static_cast<double>(outcome.tasks.operation("metropolis_decide").tasks);
  double mm_seconds = 0;
  double grid_seconds = 0;
  for (const auto& [codelet, entry] : outcome.tasks.codelets) {
    if (codelet.starts_with("starpmc_mm_")) mm_seconds += entry.seconds;
    if (codelet.starts_with("starpmc_qmmm_coulomb_grid")) grid_seconds += entry.seconds;
  }
  const double kernels = outcome.tasks.seconds();
  return {{"chains", static_cast<double>(settings.chains)},
          {"microseconds_per_step", 1e6 * outcome.seconds / steps},
          {"steps_per_second", steps / outcome.seconds},
          {"steps_per_window", steps / windows},
          {"grid_share_of_kernels", grid_seconds / kernels},
          {"mm_share_of_kernels", mm_seconds / kernels},
          {"overhead_microseconds_per_window",
           1e6 * (outcome.seconds - outcome.tasks.busiest_seconds()) / windows},
          {"acceptance", static_cast<double>(outcome.accepted) / steps},
          {"steps", steps},
          {"peak_memory_mb", peak_memory_mb()}};
}

std::vector<Figure> time_decisions(const BenchSystem& bench, const WholeStepsSettings& settings,
                                   const BenchTarget& target, const BenchTarget& preparation) {
  BenchSystem mm_only{bench.name, bench.system, bench.settings, {}, true};
  mm_only.system.solute.reset();
  Chains chains(mm_only, settings, preparation);
  target.use();
  chains.warm_up(kWarmUpShare * settings.seconds);
  const Chains::Outcome outcome = chains.run(settings.seconds);
  const TaskTimes::Entry decide = outcome.tasks.operation("metropolis_decide");
  const auto windows = static_cast<double>(decide.tasks);
  return {{"steps_per_task", static_cast<double>(outcome.steps) / windows},
          {"microseconds_per_task", 1e6 * decide.seconds / windows},
          {"kernel_microseconds_per_task", 1e6 * decide.seconds / windows},
          {"microseconds_per_step", 1e6 * decide.seconds / static_cast<double>(outcome.steps)}};
}

}  // namespace starpmc
