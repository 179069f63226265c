#include "bench/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "bench/ceiling.hpp"
#include "bench/measurement.hpp"
#include "bench/operations.hpp"
#include "bench/paper.hpp"
#include "bench/precision_errors.hpp"
#include "bench/precision_list.hpp"
#include "bench/target.hpp"
#include "bench/whole_steps.hpp"
#include "config/value_names.hpp"
#include "sampling/window_loads.hpp"

namespace starpmc {
namespace {

/// Windows whose tasks run in turn: more than StarPU keeps in a worker's pipeline.
constexpr std::size_t kWindowsInTurn = 4;
constexpr double kPotentialPairs = 1e9;
/// The plain implementation would take a minute for a task of a whole window.
constexpr std::uint32_t kMostScalarSteps = 8;
constexpr double kScalarPotentialPairs = 1e7;
/// Each loop of the arithmetic probe takes this share of a case's time.
constexpr double kProbeShare = 0.1;

class Benchmark {
 public:
  Benchmark(const BenchRequest& request, const StarpuRuntime& runtime,
            const BenchListener& listener)
      : request_(request),
        listener_(listener),
        single_(single_targets(runtime, request.implementations)),
        all_(all_targets(runtime, request.implementations)),
        preparation_(preparation_target(runtime)) {}

  void run() {
    for (const BenchPreset& preset : request_.systems) {
      const BenchSystem bench = make_bench_system(preset, request_.overrides);
      // After the first system: what is wrong with it is told at once.
      if (request_.any_operation() && ceilings_.empty()) probe();
      describe(preset, bench);
      run_system(bench);
    }
  }

 private:
  void probe();
  void describe(const BenchPreset& preset, const BenchSystem& bench);
  void run_system(const BenchSystem& bench);
  void run_operations(const BenchSystem& bench);
  template <class Real>
  void time_operations(const BenchSystem& bench, BenchData<Real>& data, const BenchTarget& target,
                       std::vector<BenchCase>& cases);
  template <class Real>
  BenchCase time_operation(const BenchSystem& bench, const BenchWindows<Real>& windows,
                           const BenchOperation& operation, const BenchTarget& target);
  void add_decisions(const BenchSystem& bench, Precision precision, const BenchTarget& target,
                     std::vector<BenchCase>& cases);
  void run_steps(const BenchSystem& bench);
  void finish(const BenchSystem& bench, const std::string& what, std::vector<BenchCase> cases);

  bool wanted(OperationGroup group) const {
    return group == OperationGroup::grid ? request_.grid
           : group == OperationGroup::mm ? request_.mm
                                         : request_.other;
  }
  template <class Real>
  std::uint32_t window_steps(const BenchSystem& bench) const {
    if (request_.window > 0) return request_.window;
    return automatic_window(loads_of<Real>(bench), bench.system.solute.has_value());
  }
  std::uint32_t window_steps(const BenchSystem& bench, Precision precision) const {
    if (precision == Precision::fp64) return window_steps<double>(bench);
    if (precision == Precision::mixed) return window_steps<float>(bench);
    return window_steps<FixedCoordinate>(bench);
  }
  double& ceiling(const BenchTarget& target, Precision precision) {
    return ceilings_[{target.worker, target.implementation, precision}];
  }

  const BenchRequest& request_;
  const BenchListener& listener_;
  std::vector<BenchTarget> single_;
  std::vector<BenchTarget> all_;
  BenchTarget preparation_;
  std::map<std::tuple<int, Implementation, Precision>, double> ceilings_;
  std::string description_;
  bool paper_size_ = false;  ///< the system has the paper's size: figures can be compared
};

BenchCase make_case(const std::string& term, const std::string& system, const BenchTarget& target,
                    Precision precision, std::vector<Figure> figures) {
  return {term,
          system,
          value_name(target.implementation),
          value_name(precision),
          target.device,
          std::move(figures)};
}

void Benchmark::probe() {
  std::vector<BenchCase> cases;
  for (const BenchTarget& target : single_) {
    for (const Precision precision : request_.precisions) {
      target.use();
      const ArithmeticRates rates = measure_arithmetic(precision, kProbeShare * request_.seconds);
      ceiling(target, precision) = rates.ceiling();
      cases.push_back(make_case("arithmetic", "", target, precision,
                                {{"multiply_adds_per_second", rates.multiply_adds_per_second},
                                 {"reciprocal_roots_per_second", rates.reciprocal_roots_per_second},
                                 {"register_pairs_per_second", rates.register_pairs_per_second},
                                 {"operations_per_pair", kOperationsPerPair},
                                 {"ceiling_pairs_per_second", rates.ceiling()}}));
    }
  }
  listener_(
      fmt::format("Arithmetic of a worker. Ceiling of the grid term: 1 reciprocal square root "
                  "and {:.0f} multiply-adds a pair",
                  kOperationsPerPair),
      cases);
}

void Benchmark::describe(const BenchPreset& preset, const BenchSystem& bench) {
  paper_size_ = request_.against_paper && bench.system.molecules.size() == preset.waters &&
                bench.grid.size() == preset.points;
  const Settings::InteractionSection& interaction = bench.settings.interaction;
  description_ = fmt::format("{}: {} {} waters, box of {:.2f} A, cutoff {:.2f} A", bench.name,
                             bench.system.molecules.size(), preset.model,
                             bench.system.box.shortest_edge(), interaction.coulomb_cutoff_angstrom);
  if (bench.system.solute) {
    description_ +=
        fmt::format(", {} x {} on {} points", preset.copies,
                    preset.solute.substr(0, preset.solute.find('.')), bench.grid.size());
    description_ += bench.synthetic_grid ? " (synthetic)" : " (from the grid file)";
  }
}

void Benchmark::run_system(const BenchSystem& bench) {
  if (request_.any_operation()) run_operations(bench);
  if (request_.steps) run_steps(bench);
  if (request_.errors) {
    finish(bench, "errors of energy changes against fp64",
           measure_errors(bench, single_, request_.precisions, request_.proposals, preparation_));
  }
}

void Benchmark::run_operations(const BenchSystem& bench) {
  std::vector<BenchCase> cases;
  for (const Precision precision : request_.precisions) {
    with_precision(precision, [&]<class Real>() {
      BenchData<Real> data(bench);
      for (const BenchTarget& target : single_) time_operations(bench, data, target, cases);
    });
  }
  finish(bench, "operations", std::move(cases));
}

template <class Real>
void Benchmark::time_operations(const BenchSystem& bench, BenchData<Real>& data,
                                const BenchTarget& target, std::vector<BenchCase>& cases) {
  const bool scalar = target.implementation == Implementation::scalar;
  const std::uint32_t asked = window_steps<Real>(bench);
  const TaskExtent extent{static_cast<int>(scalar ? std::min(asked, kMostScalarSteps) : asked),
                          scalar ? kScalarPotentialPairs : kPotentialPairs};
  preparation_.use();
  const BenchWindows<Real> windows(data, extent, scalar ? 1 : kWindowsInTurn);
  double mm_microseconds = 0;
  target.use();
  for (const BenchOperation& operation : windows.operations()) {
    if (!wanted(operation.group)) continue;
    cases.push_back(time_operation(bench, windows, operation, target));
    if (operation.group == OperationGroup::mm) {
      mm_microseconds += cases.back().figure("microseconds_per_step")->value;
    }
  }
  if (request_.mm) {
    cases.push_back(make_case("mm_terms", bench.name, target, kPrecisionOf<Real>,
                              {{"microseconds_per_step", mm_microseconds}}));
  }
  if (request_.other) add_decisions(bench, kPrecisionOf<Real>, target, cases);
}

template <class Real>
BenchCase Benchmark::time_operation(const BenchSystem& bench, const BenchWindows<Real>& windows,
                                    const BenchOperation& operation, const BenchTarget& target) {
  const RepeatedTime time = repeat_tasks(
      request_.seconds, [&](std::uint64_t i) { operation.submit(i % windows.size()); });
  std::vector<Figure> figures{
      {"steps_per_task", windows.steps_per_window()},
      {"microseconds_per_task", 1e6 * time.seconds},
      {"kernel_microseconds_per_task", 1e6 * time.kernel_seconds},
      {"microseconds_per_step", 1e6 * time.seconds / windows.steps_per_window()}};
  if (operation.pairs > 0) {
    figures.push_back({"pairs_per_task", operation.pairs});
    figures.push_back({"pairs_per_second", operation.pairs / time.seconds});
  }
  if (operation.group == OperationGroup::grid) {
    const double reach = windows.share_within_reach();
    const double most = ceiling(target, kPrecisionOf<Real>);
    figures.push_back({"share_within_reach", reach});
    figures.push_back({"ceiling_pairs_per_second", most});
    figures.push_back({"share_of_ceiling", reach * operation.pairs / time.seconds / most});
  }
  return make_case(operation.name, bench.name, target, kPrecisionOf<Real>, std::move(figures));
}

void Benchmark::add_decisions(const BenchSystem& bench, Precision precision,
                              const BenchTarget& target, std::vector<BenchCase>& cases) {
  const WholeStepsSettings settings{precision, window_steps(bench, precision), 1,
                                    0.2 * request_.seconds, request_.certified};
  cases.push_back(make_case("metropolis_decide", bench.name, target, precision,
                            time_decisions(bench, settings, target, preparation_)));
}

void Benchmark::run_steps(const BenchSystem& bench) {
  std::vector<BenchCase> cases;
  for (const unsigned chains : request_.chains) {
    for (const BenchTarget& target : all_) {
      for (const Precision precision : request_.precisions) {
        target.use();
        const WholeStepsSettings settings{precision, window_steps(bench, precision), chains,
                                          request_.seconds, request_.certified};
        cases.push_back(make_case("steps", bench.name, target, precision,
                                  time_whole_steps(bench, settings, target, preparation_)));
      }
    }
  }
  finish(bench, "whole steps", std::move(cases));
}

/// Puts the cases of a term together, with the paper's where they were asked for, and hands them
/// on.
void Benchmark::finish(const BenchSystem& bench, const std::string& what,
                       std::vector<BenchCase> cases) {
  if (paper_size_) compare_with_paper(cases);
  std::vector<BenchCase> sorted;
  while (!cases.empty()) {
    const std::string term = cases.front().term;
    for (const BenchCase& entry : cases) {
      if (entry.term == term) sorted.push_back(entry);
    }
    std::erase_if(cases, [&](const BenchCase& entry) { return entry.term == term; });
    if (!paper_size_) continue;
    for (BenchCase& paper : paper_cases(bench.name, term)) sorted.push_back(std::move(paper));
  }
  listener_(description_ + ": " + what, sorted);
}

}  // namespace

void run_benchmark(const BenchRequest& request, const StarpuRuntime& runtime,
                   const BenchListener& listener) {
  Benchmark(request, runtime, listener).run();
}

}  // namespace starpmc
