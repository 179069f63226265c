#include "bench/whole_steps.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>

#include "bench/measurement.hpp"
#include "bench/planned_window.hpp"
#include "sampling/chain.hpp"
#include "sampling/topology_buffers.hpp"

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

/// Settings of the chains of a case.
Settings chain_settings(const BenchSystem& bench, const WholeStepsSettings& settings,
                        TaskSize tasks) {
  Settings all = bench.settings;
  all.run.precision = settings.precision;
  all.run.tasks = tasks;
  all.sampling.window = settings.window;
  all.sampling.certified = settings.certified;
  return all;
}

/// Of a warm-up: the first of them compiles kernels and tells nothing about speed.
constexpr int kFewestSegments = 4;

/// Chains of a system, run at once for a time.
class Chains {
 public:
  /// @param target      where they will run: what a task is may depend on it
  /// @param preparation where their starting energies are computed
  Chains(const BenchSystem& bench, const Settings& settings, unsigned count,
         const BenchTarget& target, const BenchTarget& preparation)
      : target_(target) {
    for (unsigned i = 0; i < count; ++i) {
      target.use();
      members_.push_back({make_chain(bench.system, settings, i), i, 0, 0, {}});
      if (bench.grid.size() > 0) members_.back().chain->set_density(bench.grid);
      preparation.use();
      members_.back().chain->evaluate();
    }
  }

  struct Outcome {
    double seconds = 0;
    std::uint64_t steps = 0;
    std::uint64_t accepted = 0;
    std::uint64_t certified = 0;
    std::uint64_t windows = 0;
    TaskTimes tasks;
  };

  /// Fills caches, compiles kernels, moves data, and finds out how many steps fill a time.
  void warm_up(double seconds) {
    target_.use();
    at_once([seconds](Member& member) {
      std::uint64_t segment = 1;
      int made = 0;
      const auto start = Clock::now();
      do {
        const double time = advance(member, segment);
        if (time < seconds / 4) segment *= 2;
        ++made;
      } while (seconds_since(start) < seconds || made < kFewestSegments);
    });
  }

  /// One segment of each chain that takes about so long.
  Outcome run(double seconds, const TopologyShape& topology, const Settings& settings) {
    Outcome outcome;
    const auto certified = [&] {
      std::uint64_t steps = 0;
      for (Member& member : members_) steps += member.chain->certification().steps;
      return steps;
    };
    for (Member& member : members_) member.observer = {};
    const std::uint64_t certified_before = certified();
    const TaskTimes before = TaskTimes::take();
    const auto start = Clock::now();
    at_once([seconds](Member& member) {
      advance(member, 1 + static_cast<std::uint64_t>(seconds * member.steps_per_second));
    });
    outcome.seconds = seconds_since(start);
    outcome.tasks = TaskTimes::take().since(before);
    outcome.certified = certified() - certified_before;
    for (const Member& member : members_) {
      const std::uint64_t steps = member.observer.steps();
      outcome.steps += steps;
      outcome.accepted += member.observer.accepted();
      outcome.windows += count_windows(
          topology, {settings.sampling.seed, member.step - steps, member.number, 0, 0}, steps,
          static_cast<int>(settings.sampling.window));
    }
    return outcome;
  }

 private:
  struct Member {
    std::unique_ptr<Chain> chain;
    unsigned number = 0;
    std::uint64_t step = 0;
    double steps_per_second = 0;
    CountingObserver observer;
  };

  /// @return seconds
  static double advance(Member& member, std::uint64_t steps) {
    const auto start = Clock::now();
    member.chain->run({member.step, steps, 0, 0}, member.observer);
    member.step += steps;
    const double time = seconds_since(start);
    member.steps_per_second = static_cast<double>(steps) / time;
    return time;
  }

  template <class Body>
  void at_once(Body body) {
    std::vector<std::future<void>> threads;
    for (Member& member : members_) {
      threads.push_back(std::async(std::launch::async, [&member, body] { body(member); }));
    }
    for (auto& thread : threads) thread.get();
  }

  BenchTarget target_;
  std::vector<Member> members_;
};

constexpr double kWarmUpShare = 0.3;
/// Where whole windows are tasks, the shares of the terms come from a shorter run with a task per
/// term.
constexpr double kTermsShare = 0.2;

/// Runs chains of a case.
Chains::Outcome time_chains(const BenchSystem& bench, const WholeStepsSettings& settings,
                            TaskSize tasks, const BenchTarget& target,
                            const BenchTarget& preparation) {
  const Settings all = chain_settings(bench, settings, tasks);
  Chains chains(bench, all, settings.chains, target, preparation);
  chains.warm_up(kWarmUpShare * settings.seconds);
  const TopologyBuffers topology = make_topology_buffers(bench.system, all);
  Chains::Outcome outcome = chains.run(settings.seconds, topology.shape, all);
  // Short segments are slower: the first estimate of what fills the time may be far too low.
  if (outcome.seconds < settings.seconds / 2) {
    outcome = chains.run(settings.seconds, topology.shape, all);
  }
  return outcome;
}

/// Share of the kernels' time spent in codelets whose name starts so.
double share_of_kernels(const TaskTimes& tasks, std::string_view prefix) {
  double seconds = 0;
  for (const auto& [codelet, entry] : tasks.codelets) {
    if (codelet.starts_with(prefix)) seconds += entry.seconds;
  }
  return seconds / tasks.seconds();
}

}  // namespace

std::vector<Figure> time_whole_steps(const BenchSystem& bench, const WholeStepsSettings& settings,
                                     const BenchTarget& target, const BenchTarget& preparation) {
  reset_peak_memory();
  const double memory_before = resident_memory_mb();
  const Chains::Outcome outcome =
      time_chains(bench, settings, TaskSize::automatic, target, preparation);
  const double memory = peak_memory_mb();
  TaskTimes terms = outcome.tasks;
  if (terms.operation("metropolis_decide").tasks == 0) {
    WholeStepsSettings shorter = settings;
    shorter.seconds *= kTermsShare;
    terms = time_chains(bench, shorter, TaskSize::terms, target, preparation).tasks;
  }
  const auto steps = static_cast<double>(outcome.steps);
  const auto windows = static_cast<double>(outcome.windows);
  // Tasks of several chains overlap on a device: then there is no idle time to tell.
  const double idle = std::max(0.0, outcome.seconds - outcome.tasks.busiest_seconds());
  return {{"chains", static_cast<double>(settings.chains)},
          {"microseconds_per_step", 1e6 * outcome.seconds / steps},
          {"steps_per_second", steps / outcome.seconds},
          {"steps_per_window", steps / windows},
          {"grid_share_of_kernels", share_of_kernels(terms, "starpmc_qmmm_coulomb_grid")},
          {"mm_share_of_kernels", share_of_kernels(terms, "starpmc_mm_")},
          {"overhead_microseconds_per_window", 1e6 * idle / windows},
          {"acceptance", static_cast<double>(outcome.accepted) / steps},
          {"certified_share", static_cast<double>(outcome.certified) / steps},
          {"steps", steps},
          {"chain_memory_mb", (memory - memory_before) / settings.chains},
          {"peak_memory_mb", memory}};
}

std::vector<Figure> time_decisions(const BenchSystem& bench, const WholeStepsSettings& settings,
                                   const BenchTarget& target, const BenchTarget& preparation) {
  BenchSystem mm_only{bench.name, bench.system, bench.settings, {}, true};
  mm_only.system.solute.reset();
  const Chains::Outcome outcome =
      time_chains(mm_only, settings, TaskSize::terms, target, preparation);
  const TaskTimes::Entry decide = outcome.tasks.operation("metropolis_decide");
  const auto windows = static_cast<double>(decide.tasks);
  return {{"steps_per_task", static_cast<double>(outcome.steps) / windows},
          {"microseconds_per_task", 1e6 * decide.seconds / windows},
          {"kernel_microseconds_per_task", 1e6 * decide.seconds / windows},
          {"microseconds_per_step", 1e6 * decide.seconds / static_cast<double>(outcome.steps)}};
}

}  // namespace starpmc
