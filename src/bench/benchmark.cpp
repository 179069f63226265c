#include "bench/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "bench/ceiling.hpp"
#include "bench/measurement.hpp"
#include "bench/operations.hpp"
#include "bench/precision_errors.hpp"
#include "bench/root_accuracy.hpp"
#include "bench/target.hpp"
#include "bench/whole_steps.hpp"
#include "config/value_names.hpp"
#include "kernels/with_precision.hpp"
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
constexpr int kIntervals = 10;

/// Of the wall clock, so that other programs' readings can be brought together with a case.
double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class Benchmark {
 public:
  Benchmark(const BenchRequest& request, const StarpuRuntime& runtime,
            const BenchListener& listener)
      : request_(request),
        runtime_(runtime),
        listener_(listener),
        single_(targets(WorkerChoice::one)),
        operation_targets_(targets(request.workers.value_or(WorkerChoice::one))),
        step_targets_(targets(request.workers.value_or(WorkerChoice::both))),
        preparation_(preparation_target(runtime)) {}

  void run() {
    run_poses();
    if (!request_.any_of_system()) return;
    for (const BenchPreset& preset : request_.systems) {
      const BenchSystem bench = make_bench_system(preset, request_.overrides);
      // After the first system: what is wrong with it is told at once.
      if (request_.any_operation() && ceilings_.empty()) probe();
      describe(preset, bench);
      contestants_ = make_contestants(bench, request_.functions, runtime_);
      run_system();
      contestants_.clear();
      StarpuRuntime::use_potential("");
    }
  }

 private:
  std::vector<BenchTarget> targets(WorkerChoice choice) const {
    return bench_targets(runtime_, request_.implementations, choice);
  }
  void run_poses();
  void probe();
  void describe(const BenchPreset& preset, const BenchSystem& bench);
  void run_system();
  template <class Real>
  struct Rival;
  void run_operations();
  template <class Real>
  void time_operations(std::vector<std::unique_ptr<BenchData<Real>>>& data,
                       const BenchTarget& target, std::vector<BenchCase>& cases);
  template <class Real>
  void compare_energies(std::vector<Rival<Real>>& rivals) const;
  template <class Real>
  std::vector<BenchCase> time_operation(const std::vector<Rival<Real>>& rivals,
                                        std::size_t operation, const BenchTarget& target);
  template <class Real>
  std::vector<Figure> figures_of(const Rival<Real>& rival, const BenchOperation& operation,
                                 const RepeatedTime& time, const BenchTarget& target);
  void run_steps();
  void time_steps(unsigned chains, std::optional<int> components, const BenchTarget& target,
                  Precision precision, std::vector<BenchCase>& cases);
  void finish(const std::string& what, std::vector<BenchCase> cases);
  /// One case of each contestant, with their ratio.
  void add_cases(const std::string& term, const BenchTarget& target, Precision precision,
                 std::vector<Measured> measured, std::vector<BenchCase>& cases) const;

  bool wanted(OperationGroup group) const {
    return group == OperationGroup::grid ? request_.grid
           : group == OperationGroup::mm ? request_.mm
                                         : request_.other;
  }
  template <class Real>
  std::uint32_t window_steps(const BenchSystem& bench, std::optional<int> components = {}) const {
    if (request_.window > 0) return request_.window;
    WindowLoads<Real> loads = loads_of<Real>(bench);
    if (!components) return automatic_window(loads, bench.system.solute.has_value());
    loads.points = 0;
    loads.reference = true;
    loads.components = *components;
    return automatic_window(loads, false);
  }
  std::uint32_t window_steps(const BenchSystem& bench, std::optional<int> components,
                             Precision precision) const {
    return with_precision(precision,
                          [&]<class Real>() { return window_steps<Real>(bench, components); });
  }

  const BenchRequest& request_;
  const StarpuRuntime& runtime_;
  const BenchListener& listener_;
  std::vector<BenchTarget> single_;
  std::vector<BenchTarget> operation_targets_;
  std::vector<BenchTarget> step_targets_;
  BenchTarget preparation_;
  std::map<std::tuple<int, Implementation, Precision>, double> ceilings_;
  std::vector<Contestant> contestants_;  ///< the system, with each kind of functions
  std::string description_;
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

void Benchmark::run_poses() {
  if (request_.roots) {
    listener_("1/sqrt from the processor's estimate: Coulomb energies in fp32, sums in fp64",
              measure_root_accuracy(request_.pose_timing.seed));
  }
  if (!request_.poses) return;
  listener_("poses: Coulomb energies of random charges, half of the particles with the other half",
            time_poses(request_.pose_timing, operation_targets_));
}

void Benchmark::probe() {
  std::vector<BenchCase> cases;
  for (const BenchTarget& target : single_) {
    for (const Precision precision : request_.precisions) {
      target.use();
      const ArithmeticRates rates = measure_arithmetic(precision, kProbeShare * request_.seconds);
      ceilings_[{target.worker, target.implementation, precision}] = rates.ceiling();
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

void Benchmark::run_system() {
  if (request_.any_operation()) run_operations();
  if (request_.steps) run_steps();
  if (!request_.errors) return;
  // An error does not depend on how many cores there are: all compute it, unless asked otherwise.
  std::vector<BenchTarget> errors_of = targets(request_.workers.value_or(WorkerChoice::all));
  std::erase_if(errors_of, [](const BenchTarget& target) {
    return target.implementation == Implementation::any;
  });
  std::vector<BenchCase> cases;
  for (const Contestant& contestant : contestants_) {
    contestant.use();
    for (BenchCase& entry : measure_errors(contestant.bench, errors_of, request_.precisions,
                                           request_.proposals, preparation_)) {
      entry.functions = functions_name(contestant.functions);
      cases.push_back(std::move(entry));
    }
  }
  finish("errors of energy changes against fp64", std::move(cases));
}

/// A contestant's windows, for one target.
template <class Real>
struct Benchmark::Rival {
  const Contestant* contestant;
  std::unique_ptr<BenchWindows<Real>> windows;
  std::vector<BenchOperation> operations;
  std::vector<double> energies{};
  std::optional<double> energy_difference{};  ///< from the built-in functions'
  double mm_microseconds = 0;
};

void Benchmark::run_operations() {
  std::vector<BenchCase> cases;
  for (const Precision precision : request_.precisions) {
    with_precision(precision, [&]<class Real>() {
      std::vector<std::unique_ptr<BenchData<Real>>> data;
      for (const Contestant& contestant : contestants_) {
        contestant.use();
        data.push_back(std::make_unique<BenchData<Real>>(contestant.bench));
      }
      for (const BenchTarget& target : operation_targets_) time_operations(data, target, cases);
    });
  }
  finish("operations", std::move(cases));
}

template <class Real>
void Benchmark::time_operations(std::vector<std::unique_ptr<BenchData<Real>>>& data,
                                const BenchTarget& target, std::vector<BenchCase>& cases) {
  target.use();
  contestants_.front().use();
  const bool scalar = target.implementation == Implementation::scalar;
  const std::uint32_t asked = window_steps<Real>(contestants_.front().bench);
  const TaskExtent extent{static_cast<int>(scalar ? std::min(asked, kMostScalarSteps) : asked),
                          scalar ? kScalarPotentialPairs : kPotentialPairs};
  const std::size_t windows_of_a_worker = scalar ? 1 : kWindowsInTurn;
  preparation_.use();
  std::vector<Rival<Real>> rivals;
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    contestants_[i].use();
    auto windows = std::make_unique<BenchWindows<Real>>(*data[i], extent,
                                                        windows_of_a_worker * target.workers);
    std::vector<BenchOperation> operations = windows->operations();
    rivals.push_back({&contestants_[i], std::move(windows), std::move(operations)});
  }
  target.use();
  if (rivals.size() > 1) compare_energies(rivals);
  for (std::size_t i = 0; i < rivals.front().operations.size(); ++i) {
    const OperationGroup group = rivals.front().operations[i].group;
    if (!wanted(group)) continue;
    const std::vector<BenchCase> timed = time_operation(rivals, i, target);
    cases.insert(cases.end(), timed.begin(), timed.end());
    if (group != OperationGroup::mm) continue;
    for (std::size_t r = 0; r < rivals.size(); ++r) {
      rivals[r].mm_microseconds += timed[r].figure("microseconds_per_step")->value;
    }
  }
  if (request_.mm) {
    std::vector<Measured> sums;
    for (const Rival<Real>& rival : rivals) {
      sums.push_back({{{"microseconds_per_step", rival.mm_microseconds}}});
    }
    add_cases("mm_terms", target, kPrecisionOf<Real>, std::move(sums), cases);
  }
}

/// Times of kernels that compute something else would mean nothing.
template <class Real>
void Benchmark::compare_energies(std::vector<Rival<Real>>& rivals) const {
  for (Rival<Real>& rival : rivals) {
    rival.contestant->use();
    rival.energies = rival.windows->energies();
  }
  const auto built_in = std::ranges::find_if(rivals, [](const Rival<Real>& rival) {
    return rival.contestant->functions == Functions::built_in;
  });
  for (Rival<Real>& rival : rivals) {
    if (rival.contestant == built_in->contestant) continue;
    rival.energy_difference =
        energy_difference(rival.energies, built_in->energies, kPrecisionOf<Real>);
  }
}

template <class Real>
std::vector<BenchCase> Benchmark::time_operation(const std::vector<Rival<Real>>& rivals,
                                                 std::size_t operation, const BenchTarget& target) {
  std::vector<TasksInTurn> tasks;
  for (const Rival<Real>& rival : rivals) {
    tasks.push_back({[&rival] { rival.contestant->use(); },
                     [&rival, operation, workers = target.workers](std::uint64_t i) {
                       // Each worker has windows of its own.
                       for (std::size_t k = 0; k < workers; ++k) {
                         rival.operations[operation].submit((i * workers + k) %
                                                            rival.windows->size());
                       }
                     }});
  }
  const double began = unix_seconds();
  const std::vector<RepeatedTime> times = repeat_in_turn(request_.seconds, tasks);
  const double ended = unix_seconds();
  std::vector<Measured> figures;
  for (std::size_t r = 0; r < rivals.size(); ++r) {
    figures.push_back({figures_of(rivals[r], rivals[r].operations[operation], times[r], target)});
    figures.back().figures.push_back({"began_unix_s", began});
    figures.back().figures.push_back({"ended_unix_s", ended});
  }
  std::vector<BenchCase> cases;
  add_cases(rivals.front().operations[operation].name, target, kPrecisionOf<Real>,
            std::move(figures), cases);
  return cases;
}

template <class Real>
std::vector<Figure> Benchmark::figures_of(const Rival<Real>& rival, const BenchOperation& operation,
                                          const RepeatedTime& time, const BenchTarget& target) {
  const BenchWindows<Real>& windows = *rival.windows;
  const double seconds = time.seconds / static_cast<double>(target.workers);
  std::vector<Figure> figures{
      {"steps_per_task", windows.steps_per_window()},
      {"microseconds_per_task", 1e6 * seconds},
      {"kernel_microseconds_per_task", 1e6 * time.kernel_seconds},
      {"microseconds_per_step", 1e6 * seconds / windows.steps_per_window()}};
  if (operation.pairs > 0) {
    figures.push_back({"pairs_per_task", operation.pairs});
    figures.push_back({"pairs_per_second", operation.pairs / seconds});
  }
  if (operation.group == OperationGroup::grid) {
    const double reach = windows.share_within_reach();
    figures.push_back({"share_within_reach", reach});
    // Of the whole machine there is none, even where that is one worker.
    const auto known = ceilings_.find({target.worker, target.implementation, kPrecisionOf<Real>});
    if (known != ceilings_.end()) {
      const double most = known->second;
      figures.push_back({"ceiling_pairs_per_second", most});
      figures.push_back({"share_of_ceiling", reach * operation.pairs / seconds / most});
    }
  }
  if (rival.energy_difference) {
    figures.push_back({"energy_difference_from_built_in", *rival.energy_difference});
  }
  return figures;
}

void Benchmark::run_steps() {
  std::vector<BenchCase> cases;
  std::vector<std::optional<int>> components(request_.components.begin(),
                                             request_.components.end());
  if (components.empty() || !contestants_.front().bench.system.solute) components = {std::nullopt};
  for (const unsigned chains : request_.chains) {
    for (const BenchTarget& target : step_targets_) {
      for (const Precision precision : request_.precisions) {
        for (const auto& of_response : components) {
          time_steps(chains, of_response, target, precision, cases);
        }
      }
    }
  }
  finish("whole steps", std::move(cases));
}

void Benchmark::time_steps(unsigned chains, std::optional<int> components,
                           const BenchTarget& target, Precision precision,
                           std::vector<BenchCase>& cases) {
  target.use();
  contestants_.front().use();  // all have windows of the same size
  const WholeStepsSettings settings{precision,
                                    window_steps(contestants_.front().bench, components, precision),
                                    chains,
                                    request_.seconds,
                                    request_.certified,
                                    request_.write,
                                    components};
  if (request_.interval_steps == 0) {
    add_cases("steps", target, precision,
              time_whole_steps(contestants_, settings, target, preparation_), cases);
    return;
  }
  std::vector<std::vector<Measured>> of_contestants;
  for (const Contestant& contestant : contestants_) {
    of_contestants.push_back(time_intervals(contestant, settings, target, preparation_,
                                            request_.interval_steps, kIntervals));
  }
  for (std::size_t i = 0; i < kIntervals; ++i) {
    std::vector<Measured> interval;
    for (auto& measured : of_contestants) interval.push_back(std::move(measured[i]));
    add_cases("steps", target, precision, std::move(interval), cases);
  }
}

void Benchmark::add_cases(const std::string& term, const BenchTarget& target, Precision precision,
                          std::vector<Measured> measured, std::vector<BenchCase>& cases) const {
  const std::size_t first = cases.size();
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    cases.push_back(make_case(term, contestants_[i].bench.name, target, precision,
                              std::move(measured[i].figures)));
    cases.back().functions = functions_name(contestants_[i].functions);
    cases.back().kernels = std::move(measured[i].kernels);
  }
  add_ratios(std::span(cases).subspan(first));
}

/// Puts the cases of a term together and hands them on.
void Benchmark::finish(const std::string& what, std::vector<BenchCase> cases) {
  std::vector<BenchCase> sorted;
  while (!cases.empty()) {
    const std::string term = cases.front().term;
    for (const BenchCase& entry : cases) {
      if (entry.term == term) sorted.push_back(entry);
    }
    std::erase_if(cases, [&](const BenchCase& entry) { return entry.term == term; });
  }
  listener_(description_ + ": " + what, sorted);
}

}  // namespace

void run_benchmark(const BenchRequest& request, const StarpuRuntime& runtime,
                   const BenchListener& listener) {
  Benchmark(request, runtime, listener).run();
}

}  // namespace starpmc
