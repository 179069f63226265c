#include "bench/whole_steps.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "bench/measurement.hpp"
#include "bench/synthetic_reference.hpp"
#include "bench/timed_chains.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

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

/// Where whole windows are tasks, the shares of the terms come from a shorter run with a task per
/// term.
constexpr double kTermsShare = 0.2;

/// Of several contestants each runs so often, in turn.
constexpr std::size_t kRoundsOfContestants = 8;

std::shared_ptr<const ReferenceTables> reference_of(const Contestant& contestant,
                                                    const WholeStepsSettings& settings) {
  if (!settings.components || !contestant.bench.system.solute) return nullptr;
  return synthetic_reference(contestant.bench, *settings.components);
}

/// What came of a contestant's rounds.
struct Rounds {
  TimedChains::Outcome sum;
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
      : contestant_(contestant),
        settings_(chain_settings(contestant.bench, settings, tasks)),
        write_(settings.write) {
    contestant.use();
    reset_peak_memory();
    rounds_.memory_before_mb = resident_memory_mb();
    chains_ = std::make_unique<TimedChains>(contestant.bench, settings_, settings.chains, target,
                                            preparation, reference_of(contestant, settings));
    chains_->warm_up(settings.seconds);
    rounds_.first_decisions = chains_->first_decisions();
    rounds_.memory_mb = peak_memory_mb();
  }

  void run(double seconds) {
    contestant_.use();
    TimedChains::Outcome outcome = chains_->run_for(seconds, write_);
    // Short segments are slower: the first estimate of what fills the time may be far too low.
    if (outcome.seconds < seconds / 2) outcome = chains_->run_for(seconds, write_);
    rounds_.seconds_per_step.push_back(outcome.seconds / static_cast<double>(outcome.steps));
    rounds_.sum.add(outcome);
  }

  double seconds_per_step() const { return chains_->seconds_per_step(); }
  Rounds& rounds() { return rounds_; }

 private:
  const Contestant& contestant_;
  Settings settings_;
  bool write_;
  std::unique_ptr<TimedChains> chains_;
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
                     std::to_string(step) + ": one of them gives wrong results");
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
  const std::size_t rounds = contestants.size() > 1 ? kRoundsOfContestants : 1;
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

/// @param outcome of a run with a task per term
std::vector<KernelTime> kernels_of(const TimedChains::Outcome& outcome) {
  std::vector<KernelTime> kernels;
  for (const auto& [operation, entry] : outcome.tasks.operations()) {
    for (std::size_t worker = 0; worker < entry.worker_tasks.size(); ++worker) {
      if (entry.worker_tasks[worker] == 0) continue;
      std::array<char, 128> name{};
      starpu_worker_get_name(static_cast<int>(worker), name.data(), name.size());
      kernels.push_back({operation, name.data(), entry.worker_tasks[worker],
                         1e6 * entry.worker_seconds[worker] / static_cast<double>(outcome.steps)});
    }
  }
  return kernels;
}

/// @param terms a run with a task per term
Measured figures_of(Rounds& rounds, const WholeStepsSettings& settings,
                    const TimedChains::Outcome& terms) {
  const TimedChains::Outcome& outcome = rounds.sum;
  const auto steps = static_cast<double>(outcome.steps);
  const auto windows = static_cast<double>(outcome.windows);
  const double seconds_per_step = median(rounds.seconds_per_step);
  // Tasks of several chains overlap on a device: then there is no idle time to tell.
  const double idle = std::max(0.0, outcome.seconds - outcome.tasks.busiest_seconds());
  Measured measured{
      {{"chains", static_cast<double>(settings.chains)},
       {"microseconds_per_step", 1e6 * seconds_per_step},
       {"steps_per_second", 1 / seconds_per_step},
       {"steps_per_window", steps / windows},
       {"grid_share_of_kernels", share_of_kernels(terms.tasks, "starpmc_qmmm_coulomb_grid")},
       {"mm_share_of_kernels", share_of_kernels(terms.tasks, "starpmc_mm_")},
       {"overhead_microseconds_per_window", 1e6 * idle / windows},
       {"acceptance", static_cast<double>(outcome.accepted) / steps},
       {"certified_share", static_cast<double>(outcome.certified) / steps},
       {"steps", steps},
       {"chain_memory_mb", (rounds.memory_mb - rounds.memory_before_mb) / settings.chains},
       {"peak_memory_mb", rounds.memory_mb}},
      kernels_of(terms)};
  if (settings.components) {
    measured.figures.push_back({"response_components", static_cast<double>(*settings.components)});
  }
  if (settings.write) {
    measured.figures.push_back(
        {"writing_microseconds_per_step", 1e6 * outcome.writing_seconds / steps});
  }
  if (rounds.decisions_compared > 0) {
    measured.figures.push_back(
        {"decisions_compared", static_cast<double>(rounds.decisions_compared)});
  }
  return measured;
}

}  // namespace

std::vector<Measured> time_whole_steps(std::span<const Contestant> contestants,
                                       const WholeStepsSettings& settings,
                                       const BenchTarget& target, const BenchTarget& preparation) {
  std::vector<Rounds> all =
      time_chains(contestants, settings, TaskSize::automatic, target, preparation);
  std::vector<Measured> measured;
  for (std::size_t i = 0; i < all.size(); ++i) {
    TimedChains::Outcome terms = all[i].sum;
    if (terms.tasks.operation("metropolis_decide").tasks == 0) {
      WholeStepsSettings shorter = settings;
      shorter.seconds *= kTermsShare;
      shorter.write = false;
      terms = time_chains(contestants.subspan(i, 1), shorter, TaskSize::terms, target, preparation)
                  .front()
                  .sum;
    }
    measured.push_back(figures_of(all[i], settings, terms));
  }
  return measured;
}

std::vector<Measured> time_intervals(const Contestant& contestant,
                                     const WholeStepsSettings& settings, const BenchTarget& target,
                                     const BenchTarget& preparation, std::uint64_t steps,
                                     int intervals) {
  contestant.use();
  const Settings all = chain_settings(contestant.bench, settings, TaskSize::terms);
  TimedChains chains(contestant.bench, all, settings.chains, target, preparation,
                     reference_of(contestant, settings));
  std::vector<Measured> measured;
  for (int i = 1; i <= intervals; ++i) {
    const TimedChains::Outcome outcome = chains.run(steps);
    measured.push_back(
        {{{"chains", static_cast<double>(settings.chains)},
          {"steps_so_far", static_cast<double>(steps) * i},
          {"microseconds_per_step", 1e6 * outcome.seconds / static_cast<double>(outcome.steps)}},
         kernels_of(outcome)});
  }
  return measured;
}

}  // namespace starpmc
