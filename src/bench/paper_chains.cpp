// Tables 5 and 6: bench-R's PMC cycle, its QM update and its whole run, with one chain and with
// several.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "bench/paper_cycle.hpp"
#include "bench/paper_published.hpp"
#include "bench/paper_session.hpp"
#include "bench/paper_whole_run.hpp"
#include "bench/precision_list.hpp"
#include "config/value_names.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

constexpr auto kCycleSteps = static_cast<std::uint64_t>(kPaperRCycleSteps);
constexpr unsigned kSeveralUpdates = 3;
constexpr double kFewestRunSteps = 200;

/// Seconds in which each of the chains makes 50,000 steps.
struct RCycle {
  std::string platform;
  Precision precision;
  unsigned chains;
  double seconds;
};

/// Whole runs of a number of chains.
struct RRun {
  WholeRun one;
  WholeRun several;
  double whole_seconds;
};

double cycle_seconds(const BenchSystem& bench, const RCycle& cycle, const BenchTarget& target,
                     const BenchTarget& preparation, double seconds) {
  const CycleSettings settings{cycle.precision, TaskSize::automatic, cycle.chains, false};
  const CycleTime time =
      PaperCycle(bench, settings, target, preparation).run_for(kCycleSteps, seconds);
  return kPaperRCycleSteps / static_cast<double>(time.steps) * time.seconds;
}

/// One core in fp64 and mixed precision, then the whole machine with one and with n chains.
/// @param chains 0: chosen by the machine, and told
std::vector<RCycle> measure_r_cycles(PaperSession& session, PaperTable& table, unsigned& chains) {
  const StarpuRuntime runtime(kBenchPrecisions, Implementation::any);
  const BenchSystem& bench = session.load("R");
  table.notes.push_back(session.describe("R"));
  const BenchTarget preparation = preparation_target(runtime);
  if (chains == 0) chains = whole_run_chains(std::max(runtime.cpu_workers(), 1U));
  std::vector<RCycle> cycles;
  const auto add = [&](const BenchTarget& target, Precision precision, unsigned count) {
    session.progress(
        fmt::format("50,000 steps of bench-R, {} on {}", counted(count, "chain"), target.device));
    cycles.push_back({target.device, precision, count, 0});
    cycles.back().seconds =
        cycle_seconds(bench, cycles.back(), target, preparation, session.request().seconds);
  };
  const auto single = single_targets(runtime, std::vector<Implementation>{Implementation::simd});
  if (!single.empty()) {
    add(single.front(), Precision::fp64, 1);
    add(single.front(), Precision::mixed, 1);
  }
  const BenchTarget machine = whole_machine(runtime);
  for (const Precision precision : {Precision::fp64, Precision::mixed}) {
    for (const unsigned count : {1U, chains}) {
      const bool known = std::ranges::any_of(cycles, [&](const RCycle& cycle) {
        return cycle.platform == machine.device && cycle.precision == precision &&
               cycle.chains == count;
      });
      if (known) continue;  // n is 1, or the machine one core
      add(machine, precision, count);
    }
  }
  return cycles;
}

const RCycle* find_cycle(const std::vector<RCycle>& cycles, Precision precision, unsigned chains) {
  const auto found = std::find_if(cycles.rbegin(), cycles.rend(), [&](const RCycle& cycle) {
    return cycle.precision == precision && cycle.chains == chains;
  });
  return found == cycles.rend() ? nullptr : &*found;
}

/// Runs of the program itself, shortened to what fits the time.
RRun measure_runs(PaperSession& session, unsigned chains, double cycle_seconds) {
  const double fitting = 3 * session.request().seconds / cycle_seconds * kPaperRCycleSteps;
  const double steps = std::clamp(std::floor(fitting), kFewestRunSteps, kPaperRCycleSteps);
  const double left_out = (1 - steps / kPaperRCycleSteps) * cycle_seconds;
  const auto run = [&](unsigned updates) {
    session.progress(fmt::format("whole run of bench-R, {}, {} each", counted(chains, "chain"),
                                 counted(updates, "QM update")));
    return run_whole(chains, updates, static_cast<std::uint64_t>(steps));
  };
  RRun result{run(1), run(kSeveralUpdates), 0};
  result.whole_seconds = extrapolate_whole_run(result.one, result.several, left_out);
  return result;
}

std::string run_note(const RRun& run) {
  return fmt::format(
      "{}: two runs of `starpmc run configs/bench-R.cfg` with {} and {} QM updates a chain, "
      "{} steps between them, took {:.1f} and {:.1f} s; in the longer one QM took {:.0f} % and "
      "sampling {:.0f} % of the workers' time",
      counted(run.one.chains, "chain"), run.one.updates, run.several.updates, run.several.steps,
      run.one.wall_seconds, run.several.wall_seconds, 100 * run.several.share_qm,
      100 * run.several.share_sampling);
}

/// QM updates and whole runs by number of chains; why there is none as a note.
std::map<unsigned, RRun> measure_all_runs(PaperSession& session, PaperTable& table,
                                          const std::vector<RCycle>& cycles, unsigned chains) {
  std::map<unsigned, RRun> runs;
  for (const unsigned count : {1U, chains}) {
    if (runs.contains(count)) continue;
    try {
      const double seconds = find_cycle(cycles, Precision::mixed, count)->seconds;
      runs[count] = measure_runs(session, count, seconds);
      table.notes.push_back(run_note(runs[count]));
    } catch (const std::exception& error) {
      table.notes.push_back(fmt::format("{}: whole run not measured: {}", counted(count, "chain"),
                                        std::string_view(error.what())));
    }
  }
  return runs;
}

void fill(const std::vector<RCycle>& cycles, const std::map<unsigned, RRun>& runs, PaperTable& five,
          PaperTable& six) {
  const auto whole = [&](const RCycle& cycle) -> std::optional<double> {
    const auto found = runs.find(cycle.chains);
    if (found == runs.end()) return {};
    if (&cycle == find_cycle(cycles, Precision::mixed, cycle.chains)) {
      return found->second.whole_seconds;
    }
    return kPaperUpdates / cycle.chains * (cycle.seconds + found->second.several.update_seconds);
  };
  const double serial = cycles.front().seconds;
  const auto serial_whole = whole(cycles.front());
  for (const RCycle& cycle : cycles) {
    TableCell update;
    TableCell seconds;
    TableCell speedup;
    TableCell paper_speedup;
    if (const auto found = runs.find(cycle.chains); found != runs.end()) {
      update = found->second.several.update_seconds;
    }
    if (const auto all = whole(cycle)) {
      seconds = *all;
      if (serial_whole) speedup = *serial_whole / *all;
      paper_speedup = kPaperSerialRun / *all;
    }
    const auto chains = static_cast<double>(cycle.chains);
    five.add({cycle.platform, std::string(value_name(cycle.precision)), chains, cycle.seconds,
              serial / cycle.seconds, update, seconds, speedup});
    if (cycle.precision != Precision::mixed) continue;
    six.add({cycle.platform, chains, cycle.seconds, kPaperSerialCycleR / cycle.seconds, seconds,
             paper_speedup});
  }
}

}  // namespace

void measure_chains(PaperSession& session) {
  PaperTable five = published_table("table-5");
  PaperTable six = published_table("table-6");
  if (session.has_case("R", five)) {
    unsigned chains = session.request().chains;
    const std::vector<RCycle> cycles = measure_r_cycles(session, five, chains);
    const auto runs = measure_all_runs(session, five, cycles, chains);
    fill(cycles, runs, five, six);
    five.notes.emplace_back(
        "cycle: the time in which every chain makes 50,000 steps; speed-ups: over the machine's "
        "first row");
    five.notes.emplace_back(
        "the whole run is extrapolated from those two; that of rows in other precisions or on "
        "other "
        "workers is 496 times cycle and update; n chains share the 496 updates");
    six.notes.emplace_back("mixed precision; more in the notes of table 5");
  } else {
    six.notes = five.notes;
  }
  session.publish(std::move(five));
  session.publish(std::move(six));
}

}  // namespace starpmc
