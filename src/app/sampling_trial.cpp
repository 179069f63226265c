#include "app/sampling_trial.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <numeric>
#include <vector>

#include "app/run_reference.hpp"
#include "base/seconds_since.hpp"
#include "bench/measurement.hpp"
#include "bench/step_observers.hpp"
#include "bench/synthetic_grid.hpp"
#include "bench/synthetic_reference.hpp"
#include "qm/frozen_engine.hpp"
#include "sampling/chain.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

/// StarPU's models may be new to this system, and kernels have to be compiled: what the first
/// seconds take tells nothing.
constexpr double kWarmUpSeconds = 2;
constexpr double kSeconds = 1.5;
/// Of a response of which the number is not known yet.
constexpr int kComponentsOfTrial = 32;

struct Member {
  std::unique_ptr<Chain> chain;
  std::uint64_t step = 0;

  /// As a run does during equilibration, but without frames. @return steps made
  std::uint64_t run_for(double seconds, const Settings& settings) {
    CountingObserver observer;
    const auto start = Clock::now();
    const std::uint64_t first = step;
    step = chain->run({step, settings.sampling.steps, 0, settings.sampling.tune_interval, 0},
                      observer, [&] { return seconds_since(start) > seconds; });
    return step - first;
  }
};

/// Of all chains, which start together.
double steps_per_second(std::vector<Member>& members, double seconds, const Settings& settings) {
  std::vector<std::future<std::uint64_t>> made;
  const auto start = Clock::now();
  for (Member& member : members) {
    made.push_back(
        std::async(std::launch::async, [&] { return member.run_for(seconds, settings); }));
  }
  std::uint64_t steps = 0;
  for (auto& future : made) steps += future.get();
  return static_cast<double>(steps) / seconds_since(start);
}

/// Null: not sampled about one.
std::shared_ptr<const ReferenceTables> reference_for_trial(const Inputs& inputs,
                                                           const DensityGrid& grid) {
  if (!samples_exactly(inputs)) return nullptr;
  BenchSystem bench;
  bench.system = inputs.system;
  bench.settings = inputs.settings;
  bench.grid = grid;
  return synthetic_reference(bench,
                             inputs.settings.qm.response_components.value_or(kComponentsOfTrial));
}

}  // namespace

DensityGrid density_for_trial(const Inputs& inputs) {
  if (!inputs.system.solute) return {};
  const Solute& solute = *inputs.system.solute;
  const auto& qm = inputs.settings.qm;
  DensityGrid grid;
  if (qm.engine == "frozen") {
    grid = read_density_of(solute, qm.charge, qm.grid_file);
  } else {
    const int electrons =
        std::accumulate(solute.atomic_numbers.begin(), solute.atomic_numbers.end(), -qm.charge);
    const std::size_t points = solute.atom_count() * static_cast<std::size_t>(qm.grid_radial) *
                               static_cast<std::size_t>(qm.grid_angular);
    grid = synthetic_grid(solute, electrons, points);
  }
  drop_small_charges(grid, qm.charge_threshold);
  return grid;
}

SamplingTrial try_sampling(const Inputs& inputs, const DensityGrid& grid, unsigned chains) {
  const double before_mb = resident_memory_mb();
  const auto reference = reference_for_trial(inputs, grid);
  std::vector<Member> members(chains);
  for (unsigned number = 0; number < chains; ++number) {
    members[number].chain = make_chain(inputs.system, inputs.settings, number, chains);
    if (reference != nullptr) {
      members[number].chain->set_reference(reference);
    } else if (grid.size() > 0) {
      members[number].chain->set_density(grid);
    }
    members[number].chain->evaluate();
  }
  steps_per_second(members, kWarmUpSeconds, inputs.settings);
  SamplingTrial trial;
  trial.steps_per_second = steps_per_second(members, kSeconds, inputs.settings);
  trial.memory_mb = resident_memory_mb();
  trial.memory_of_chain_mb = (trial.memory_mb - before_mb) / chains;
  return trial;
}

}  // namespace starpmc
