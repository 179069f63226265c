#include "bench/timed_chains.hpp"

#include <algorithm>
#include <chrono>
#include <future>

#include "base/seconds_since.hpp"
#include "bench/planned_window.hpp"
#include "kernels/base/temporary_folder.hpp"
#include "sampling/topology_buffers.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

/// Of a warm-up: the first of them compiles kernels and tells nothing about speed.
constexpr int kFewestSegments = 4;
constexpr double kWarmUpShare = 0.3;
/// While steps become faster by more than this, StarPU's models are still being calibrated.
constexpr double kSteadyGain = 0.1;

}  // namespace

void TimedChains::Outcome::add(const Outcome& other) {
  seconds += other.seconds;
  writing_seconds += other.writing_seconds;
  steps += other.steps;
  accepted += other.accepted;
  certified += other.certified;
  windows += other.windows;
  tasks.add(other.tasks);
}

TimedChains::TimedChains(const BenchSystem& bench, const Settings& settings, unsigned count,
                         const BenchTarget& target, const BenchTarget& preparation,
                         const std::shared_ptr<const ReferenceTables>& reference)
    : bench_(bench), settings_(settings), target_(target) {
  for (unsigned i = 0; i < count; ++i) {
    target.use();
    members_.push_back({make_chain(bench.system, settings, i, count), i, 0, 0, {}});
    if (reference) {
      members_.back().chain->set_reference(reference);
    } else if (bench.grid.size() > 0) {
      members_.back().chain->set_density(bench.grid);
    }
    preparation.use();
    members_.back().chain->evaluate();
  }
  target.use();
}

void TimedChains::warm_up(double seconds) {
  at_once([this, seconds](Member& member) {
    const double least = kWarmUpShare * seconds;
    const auto start = Clock::now();
    std::uint64_t segment = 1;
    bool steady = false;
    for (int made = 0; made < kFewestSegments || seconds_since(start) < least ||
                       (!steady && seconds_since(start) < seconds);
         ++made) {
      const double rate = member.steps_per_second;
      advance(member, segment);
      steady = member.steps_per_second * (1 - kSteadyGain) < rate;
      if (static_cast<double>(segment) / member.steps_per_second < least / 4) segment *= 2;
    }
  });
}

double TimedChains::seconds_per_step() const {
  double rate = 0;
  for (const Member& member : members_) rate += member.steps_per_second;
  return 1 / rate;
}

std::vector<std::vector<bool>> TimedChains::first_decisions() const {
  std::vector<std::vector<bool>> all;
  for (const Member& member : members_) all.push_back(member.observer.first_decisions());
  return all;
}

TimedChains::Outcome TimedChains::run_for(double seconds, bool write) {
  double slowest = members_.front().steps_per_second;
  for (const Member& member : members_) slowest = std::min(slowest, member.steps_per_second);
  const double mean = 1 / seconds_per_step() / static_cast<double>(members_.size());
  return run(1 + static_cast<std::uint64_t>(seconds * std::min(mean, 2 * slowest)), write);
}

TimedChains::Outcome TimedChains::run(std::uint64_t steps, bool write) {
  const auto certified = [&] {
    std::uint64_t all = 0;
    for (const Member& member : members_) all += member.chain->certification().steps;
    return all;
  };
  for (Member& member : members_) member.observer = {};
  const std::uint64_t certified_before = certified();
  const TaskTimes before = TaskTimes::take();
  const auto start = Clock::now();
  at_once([&](Member& member) { advance(member, steps, write); });
  Outcome outcome;
  outcome.seconds = seconds_since(start);
  outcome.tasks = TaskTimes::take().since(before);
  outcome.certified = certified() - certified_before;
  const TopologyShape shape = make_topology_buffers(bench_.system, settings_).shape;
  for (const Member& member : members_) {
    const std::uint64_t made = member.observer.steps();
    outcome.steps += made;
    outcome.accepted += member.observer.accepted();
    outcome.writing_seconds += member.writing_seconds;
    outcome.windows +=
        count_windows(shape, {settings_.sampling.seed, member.step - made, member.number, 0, 0},
                      made, static_cast<int>(settings_.sampling.window));
  }
  return outcome;
}

void TimedChains::advance(Member& member, std::uint64_t steps, bool write) const {
  const auto start = Clock::now();
  if (write) {
    const TemporaryFolder folder;
    WritingObserver observer(bench_.system, folder.path());
    member.chain->run({member.step, steps, WritingObserver::kFrameInterval, 0}, observer);
    observer.close();
    member.writing_seconds = observer.seconds();
    member.observer = static_cast<const CountingObserver&>(observer);
  } else {
    member.chain->run({member.step, steps, 0, 0}, member.observer);
  }
  member.step += steps;
  member.steps_per_second = static_cast<double>(steps) / seconds_since(start);
}

void TimedChains::at_once(const std::function<void(Member&)>& body) {
  std::vector<std::future<void>> threads;
  for (Member& member : members_) {
    threads.push_back(std::async(std::launch::async, [&] { body(member); }));
  }
  for (auto& thread : threads) thread.get();
}

}  // namespace starpmc
