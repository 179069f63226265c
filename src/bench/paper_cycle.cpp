#include "bench/paper_cycle.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <optional>

#include "io/energy_table.hpp"
#include "io/trajectory.hpp"
#include "seconds_since.hpp"
#include "temporary_folder.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

/// Intervals of a run's output by default (output.energy-interval, output.trajectory-interval).
constexpr std::uint64_t kEnergyInterval = 100;
constexpr std::uint64_t kFrameInterval = 1000;
/// Of the time that steps may take, for finding out how many fit.
constexpr double kWarmUpShare = 0.1;
/// The first of them compiles kernels and tells nothing about speed.
constexpr int kFewestWarmUps = 3;
/// While runs become faster by more than this, StarPU's models are still being calibrated.
constexpr double kSteadyGain = 0.1;
/// Of a cycle that is much shorter than its time.
constexpr std::size_t kMostRepetitions = 5;

/// Writes what a run would write, and knows how long that took.
class WritingObserver final : public ChainObserver {
 public:
  WritingObserver(const System& system, const std::filesystem::path& folder)
      : energies_(folder / "energies.csv"), trajectory_(folder / "trajectory.h5", system) {}

  void on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) override {
    ++steps_;
    if (accepted) ++accepted_;
    if (step % kEnergyInterval != 0) return;
    const auto start = Clock::now();
    energies_.append(step, totals, 0, static_cast<double>(accepted_) / static_cast<double>(steps_));
    seconds_ += seconds_since(start);
  }
  void on_frame(std::uint64_t step, std::span<const Molecule> molecules) override {
    const auto start = Clock::now();
    trajectory_.append(step, molecules);
    seconds_ += seconds_since(start);
  }
  void close() {
    const auto start = Clock::now();
    energies_.close();
    trajectory_.close();
    seconds_ += seconds_since(start);
  }
  double seconds() const { return seconds_; }

 private:
  EnergyTable energies_;
  Trajectory trajectory_;
  std::uint64_t steps_ = 0;
  std::uint64_t accepted_ = 0;
  double seconds_ = 0;
};

class SilentObserver final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool, const EnergyTerms&) override {}
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}
};

}  // namespace

class PaperCycle::Member {
 public:
  Member(std::unique_ptr<Chain> chain) : chain_(std::move(chain)) {}

  /// @return seconds spent in writing
  double run(const System& system, std::uint64_t steps, bool output) {
    ChainSegment segment{step_, steps, 0, 0};
    step_ += steps;
    if (!output) {
      SilentObserver observer;
      chain_->run(segment, observer);
      return 0;
    }
    const TemporaryFolder folder;
    WritingObserver observer(system, folder.path());
    segment.frame_interval = kFrameInterval;
    chain_->run(segment, observer);
    observer.close();
    return observer.seconds();
  }

 private:
  std::unique_ptr<Chain> chain_;
  std::uint64_t step_ = 0;
};

PaperCycle::PaperCycle(const BenchSystem& bench, const CycleSettings& settings,
                       const BenchTarget& target, const BenchTarget& preparation)
    : bench_(bench), settings_(settings) {
  Settings all = bench.settings;
  all.run.precision = settings.precision;
  all.run.tasks = settings.tasks;
  all.sampling.chains = settings.chains;
  for (unsigned number = 0; number < settings.chains; ++number) {
    target.use();
    auto chain = make_chain(bench.system, all, number, settings.chains);
    if (bench.grid.size() > 0) chain->set_density(bench.grid);
    preparation.use();
    chain->evaluate();
    members_.push_back(std::make_unique<Member>(std::move(chain)));
  }
  target.use();
}

PaperCycle::~PaperCycle() = default;

CycleTime PaperCycle::run(std::uint64_t steps) {
  CycleTime time;
  time.steps = steps;
  const TaskTimes before = TaskTimes::take();
  const auto start = Clock::now();
  std::vector<std::future<double>> threads;
  for (auto& member : members_) {
    threads.push_back(std::async(std::launch::async, [&, chain = member.get()] {
      return chain->run(bench_.system, steps, settings_.output);
    }));
  }
  for (auto& thread : threads) time.output_seconds += thread.get();
  time.seconds = seconds_since(start);
  time.tasks = TaskTimes::take().since(before);
  return time;
}

std::uint64_t PaperCycle::steps_that_fit(std::uint64_t steps, double seconds) {
  std::uint64_t some = 1;
  double last = 0;  // seconds of a step
  bool is_steady = false;
  const auto start = Clock::now();
  for (int i = 0;; ++i) {
    const double spent = seconds_since(start);
    const bool is_warm = i >= kFewestWarmUps && spent > kWarmUpShare * seconds;
    if (is_warm && (is_steady || spent > seconds)) break;
    const CycleTime time = run(some);
    const double now = time.seconds / static_cast<double>(some);
    is_steady = now > (1 - kSteadyGain) * last;
    last = now;
    if (time.seconds < kWarmUpShare * seconds / 2) some = std::min(2 * some, steps);
  }
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(seconds / last), 1, steps);
}

CycleTime PaperCycle::run_for(std::uint64_t steps, double seconds) {
  const std::uint64_t fitting = steps_that_fit(steps, seconds);
  std::vector<CycleTime> times;
  const auto start = Clock::now();
  do {
    times.push_back(run(fitting));
  } while (times.size() < kMostRepetitions &&
           seconds_since(start) + times.back().seconds < seconds);
  std::ranges::sort(times, {}, &CycleTime::seconds);
  return times[times.size() / 2];
}

}  // namespace starpmc
