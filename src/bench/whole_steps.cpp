#include "bench/whole_steps.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "bench/measurement.hpp"
#include "bench/planned_window.hpp"
#include "error.hpp"
#include "sampling/chain.hpp"
#include "sampling/topology_buffers.hpp"
#include "seconds_since.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

class CountingObserver final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool accepted, const EnergyTerms&) override {
    ++steps_;
    accepted_ += accepted ? 1 : 0;
    if (first_decisions_.size() < kDecisionsKept) first_decisions_.push_back(accepted);
  }
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}
  std::uint64_t steps() const { return steps_; }
  std::uint64_t accepted() const { return accepted_; }
  const std::vector<bool>& first_decisions() const { return first_decisions_; }

 private:
  static constexpr std::size_t kDecisionsKept = 1000;
  std::uint64_t steps_ = 0;
  std::uint64_t accepted_ = 0;
  std::vector<bool> first_decisions_;
};

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
      members_.push_back({make_chain(bench.system, settings, i, count), i, 0, 0, {}});
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

    void add(const Outcome& other) {
      seconds += other.seconds;
      steps += other.steps;
      accepted += other.accepted;
      certified += other.certified;
      windows += other.windows;
      tasks.add(other.tasks);
    }
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

  /// Of all chains together, as of late.
  double seconds_per_step() const {
    double rate = 0;
    for (const Member& member : members_) rate += member.steps_per_second;
    return 1 / rate;
  }

  /// Of each chain, from its first step on; to be asked before run().
  std::vector<std::vector<bool>> first_decisions() const {
    std::vector<std::vector<bool>> all;
    for (const Member& member : members_) all.push_back(member.observer.first_decisions());
    return all;
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

/// Of several contestants each runs so often, in turn.
constexpr std::size_t kRounds = 8;

/// What came of a contestant's rounds.
struct Rounds {
  Chains::Outcome sum;
  std::vector<double> seconds_per_step;
  double memory_before_mb = 0;
  double memory_mb = 0;  ///< peak
  std::vector<std::vector<bool>> first_decisions;
  std::size_t decisions_compared = 0;  ///< with the first contestant's
};

/// Chains of a contestant, whose turn comes again and again.
class ContestantChains {
 public:
  ContestantChains(const Contestant& contestant, const WholeStepsSettings& settings, TaskSize tasks,
                   const BenchTarget& target, const BenchTarget& preparation)
      : contestant_(contestant), settings_(chain_settings(contestant.bench, settings, tasks)) {
    contestant.use();
    reset_peak_memory();
    rounds_.memory_before_mb = resident_memory_mb();
    chains_ =
        std::make_unique<Chains>(contestant.bench, settings_, settings.chains, target, preparation);
    chains_->warm_up(kWarmUpShare * settings.seconds);
    rounds_.first_decisions = chains_->first_decisions();
    shape_ = make_topology_buffers(contestant.bench.system, settings_).shape;
    rounds_.memory_mb = peak_memory_mb();
  }

  void run(double seconds) {
    contestant_.use();
    Chains::Outcome outcome = chains_->run(seconds, shape_, settings_);
    // Short segments are slower: the first estimate of what fills the time may be far too low.
    if (outcome.seconds < seconds / 2) outcome = chains_->run(seconds, shape_, settings_);
    rounds_.seconds_per_step.push_back(outcome.seconds / static_cast<double>(outcome.steps));
    rounds_.sum.add(outcome);
  }

  double seconds_per_step() const { return chains_->seconds_per_step(); }
  Rounds& rounds() { return rounds_; }

 private:
  const Contestant& contestant_;
  Settings settings_;
  std::unique_ptr<Chains> chains_;
  TopologyShape shape_{};
  Rounds rounds_;
};

/// @return how many decisions both have made
/// @throws RunError at the first that differs
std::size_t compare_decisions(const Rounds& one, const Rounds& other) {
  std::size_t compared = 0;
  for (std::size_t chain = 0; chain < one.first_decisions.size(); ++chain) {
    const std::vector<bool>& a = one.first_decisions[chain];
    const std::vector<bool>& b = other.first_decisions[chain];
    const std::size_t common = std::min(a.size(), b.size());
    for (std::size_t step = 0; step < common; ++step) {
      if (a[step] == b[step]) continue;
      throw RunError("expressions decide otherwise than the built-in functions in step " +
                     std::to_string(step) + ": one of them computes wrongly");
    }
    compared += common;
  }
  return compared;
}

/// Runs chains of a case.
std::vector<Rounds> time_chains(std::span<const Contestant> contestants,
                                const WholeStepsSettings& settings, TaskSize tasks,
                                const BenchTarget& target, const BenchTarget& preparation) {
  std::vector<ContestantChains> all;
  all.reserve(contestants.size());
  for (const Contestant& contestant : contestants) {
    all.emplace_back(contestant, settings, tasks, target, preparation);
  }
  const std::size_t rounds = contestants.size() > 1 ? kRounds : 1;
  const double round_seconds =
      settings.seconds * static_cast<double>(all.size()) / static_cast<double>(rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    // As many steps of each, about: the last window of a segment is shorter than the others.
    double together = 0;
    for (const ContestantChains& chains : all) together += chains.seconds_per_step();
    for (std::size_t i = 0; i < all.size(); ++i) {
      ContestantChains& turn = all[round % 2 == 0 ? i : all.size() - 1 - i];
      turn.run(round_seconds * turn.seconds_per_step() / together);
    }
  }
  std::vector<Rounds> results;
  for (ContestantChains& chains : all) results.push_back(std::move(chains.rounds()));
  // Below fp64, it is certification that makes decisions independent of how energies are computed.
  if (settings.certified || settings.precision == Precision::fp64) {
    for (std::size_t i = 1; i < results.size(); ++i) {
      results[i].decisions_compared = compare_decisions(results.front(), results[i]);
    }
  }
  return results;
}

/// Share of the kernels' time spent in codelets whose name starts so.
double share_of_kernels(const TaskTimes& tasks, std::string_view prefix) {
  double seconds = 0;
  for (const auto& [codelet, entry] : tasks.codelets) {
    if (codelet.starts_with(prefix)) seconds += entry.seconds;
  }
  return seconds / tasks.seconds();
}

/// @param terms tasks of a run with a task per term
std::vector<Figure> figures_of(Rounds& rounds, const WholeStepsSettings& settings,
                               const TaskTimes& terms) {
  const Chains::Outcome& outcome = rounds.sum;
  const auto steps = static_cast<double>(outcome.steps);
  const auto windows = static_cast<double>(outcome.windows);
  const double seconds_per_step = median(rounds.seconds_per_step);
  // Tasks of several chains overlap on a device: then there is no idle time to tell.
  const double idle = std::max(0.0, outcome.seconds - outcome.tasks.busiest_seconds());
  std::vector<Figure> figures{
      {"chains", static_cast<double>(settings.chains)},
      {"microseconds_per_step", 1e6 * seconds_per_step},
      {"steps_per_second", 1 / seconds_per_step},
      {"steps_per_window", steps / windows},
      {"grid_share_of_kernels", share_of_kernels(terms, "starpmc_qmmm_coulomb_grid")},
      {"mm_share_of_kernels", share_of_kernels(terms, "starpmc_mm_")},
      {"overhead_microseconds_per_window", 1e6 * idle / windows},
      {"acceptance", static_cast<double>(outcome.accepted) / steps},
      {"certified_share", static_cast<double>(outcome.certified) / steps},
      {"steps", steps},
      {"chain_memory_mb", (rounds.memory_mb - rounds.memory_before_mb) / settings.chains},
      {"peak_memory_mb", rounds.memory_mb}};
  if (rounds.decisions_compared > 0) {
    figures.push_back({"decisions_compared", static_cast<double>(rounds.decisions_compared)});
  }
  return figures;
}

}  // namespace

std::vector<std::vector<Figure>> time_whole_steps(std::span<const Contestant> contestants,
                                                  const WholeStepsSettings& settings,
                                                  const BenchTarget& target,
                                                  const BenchTarget& preparation) {
  std::vector<Rounds> all =
      time_chains(contestants, settings, TaskSize::automatic, target, preparation);
  std::vector<std::vector<Figure>> figures;
  for (std::size_t i = 0; i < all.size(); ++i) {
    TaskTimes terms = all[i].sum.tasks;
    if (terms.operation("metropolis_decide").tasks == 0) {
      WholeStepsSettings shorter = settings;
      shorter.seconds *= kTermsShare;
      terms = time_chains(contestants.subspan(i, 1), shorter, TaskSize::terms, target, preparation)
                  .front()
                  .sum.tasks;
    }
    figures.push_back(figures_of(all[i], settings, terms));
  }
  return figures;
}

std::vector<std::vector<Figure>> time_decisions(std::span<const Contestant> contestants,
                                                const WholeStepsSettings& settings,
                                                const BenchTarget& target,
                                                const BenchTarget& preparation) {
  std::vector<Contestant> mm_only;
  for (const Contestant& contestant : contestants) {
    const BenchSystem& bench = contestant.bench;
    mm_only.push_back({contestant.functions,
                       {bench.name, bench.system, bench.settings, {}, true},
                       contestant.potential});
    mm_only.back().bench.system.solute.reset();
  }
  std::vector<std::vector<Figure>> figures;
  for (const Rounds& rounds :
       time_chains(mm_only, settings, TaskSize::terms, target, preparation)) {
    const TaskTimes::Entry decide = rounds.sum.tasks.operation("metropolis_decide");
    const auto windows = static_cast<double>(decide.tasks);
    const auto steps = static_cast<double>(rounds.sum.steps);
    figures.push_back({{"steps_per_task", steps / windows},
                       {"microseconds_per_task", 1e6 * decide.seconds / windows},
                       {"kernel_microseconds_per_task", 1e6 * decide.seconds / windows},
                       {"microseconds_per_step", 1e6 * decide.seconds / steps}});
  }
  return figures;
}

}  // namespace starpmc
