#include "bench/precision_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/operations.hpp"
#include "config/value_names.hpp"
#include "kernels/base/error.hpp"
#include "kernels/with_precision.hpp"
#include "sampling/chain.hpp"
#include "sampling/window_loads.hpp"

namespace starpmc {
namespace {

/// Proposals that start from one configuration, at most so many configurations, and steps between
/// two of them.
constexpr std::size_t kProposalsOfOne = 2500;
constexpr std::size_t kMostConfigurations = 4;
constexpr std::uint64_t kStepsBetween = 2000;

/// Energy changes of proposals, kJ/mol, and where the moved molecules went.
struct EnergyChanges {
  std::vector<double> grid;
  std::vector<double> total;
  std::vector<double> place;  ///< x of each proposed centre
};

class SilentObserver final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool, const EnergyTerms&) override {}
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}
};

using Configuration = std::vector<Molecule>;

/// Several moments of one chain.
std::vector<Configuration> make_configurations(const BenchSystem& bench, std::size_t proposals,
                                               const BenchTarget& preparation) {
  preparation.use();
  const auto chain = make_chain(bench.system, bench.settings, 0);
  if (bench.grid.size() > 0) chain->set_density(bench.grid);
  chain->evaluate();
  SilentObserver observer;
  std::vector<Configuration> all;
  const std::size_t count =
      std::clamp<std::size_t>(proposals / kProposalsOfOne, 1, kMostConfigurations);
  for (std::size_t i = 0; i < count; ++i) {
    chain->run({i * kStepsBetween, kStepsBetween, 0, 0}, observer);
    all.push_back(chain->molecules());
  }
  return all;
}

/// Energies of a window's candidates and start positions, as the decision reads them.
template <class Real>
class WindowEnergies {
 public:
  WindowEnergies(const ChainData<Real>& chain, const PlannedWindow& planned,
                 const WindowBuffers<Real>& buffers)
      : chain_(chain),
        planned_(planned),
        rows_(static_cast<std::size_t>(entry_capacity(planned.layout))),
        candidates_(static_cast<std::size_t>(planned.layout.candidates)),
        mm_(buffers.mm_energies, STARPU_R),
        cache_(chain.field_cache, STARPU_R),
        entries_(buffers.entries, STARPU_R) {
    if (chain.density != nullptr) grid_.emplace(buffers.grid_energies, STARPU_R);
    if (chain.has_static_terms()) nuclei_.emplace(buffers.nuclei_energies, STARPU_R);
  }

  /// Adds the proposals that start where their molecule is now.
  void append_to(EnergyChanges& changes) const {
    const auto& plan = planned_.plan;
    const WindowLayout& layout = planned_.layout;
    const auto at = [&](int base, int index) {
      return plan[static_cast<std::size_t>(base + index)];
    };
    for (int c = 0; c < planned_.extent.candidates; ++c) {
      const int step = at(plan_candidate_step(layout), c);
      const int start = start_entry(layout, at(plan_step_slot(layout), step));
      if (at(plan_candidate_parent(layout), c) != start) continue;
      const auto molecule = static_cast<std::size_t>(at(plan_step_molecule(layout), step));
      append(static_cast<std::size_t>(c), static_cast<std::size_t>(start), molecule, changes);
    }
  }

 private:
  void append(std::size_t candidate, std::size_t start, std::size_t molecule,
              EnergyChanges& changes) const {
    const auto field_change = [&](const std::optional<HostAccess<double>>& energies,
                                  std::size_t index, std::size_t field) {
      if (!energies) return 0.0;
      return energies->data()[index] - cache_.data()[field * chain_.stride() + molecule];
    };
    const double grid = field_change(grid_, candidate, FIELD_QMMM_GRID);
    double total = grid;
    for (std::size_t field = 0; field < STATIC_TERMS; ++field) {
      total += field_change(nuclei_, field * candidates_ + candidate, field);
    }
    for (std::size_t term = 0; term < MM_TERMS; ++term) {
      total += mm_.data()[term * rows_ + candidate] - mm_.data()[term * rows_ + start];
    }
    changes.grid.push_back(grid);
    changes.total.push_back(total);
    changes.place.push_back(entries_.data()[POSE_X * rows_ + candidate]);
  }

  const ChainData<Real>& chain_;
  const PlannedWindow& planned_;
  std::size_t rows_;
  std::size_t candidates_;
  std::optional<HostAccess<double>> grid_;
  std::optional<HostAccess<double>> nuclei_;
  HostAccess<double> mm_;
  HostAccess<double> cache_;
  HostAccess<double> entries_;
};

/// Proposals from one configuration.
template <class Real>
void add_changes(const BenchSystem& bench, std::size_t proposals, EnergyChanges& changes) {
  BenchData<Real> data(bench);
  ChainData<Real>& chain = data.chain;
  FullEvaluation<Real>(chain).run();
  const auto steps = static_cast<int>(automatic_window(loads_of<Real>(bench), chain.has_solute()));
  const std::size_t wanted = changes.grid.size() + proposals;
  const std::size_t most_windows = 1 + 4 * proposals / static_cast<std::size_t>(steps);
  for (const PlannedWindow& planned :
       plan_windows(chain.topology.shape, bench.settings.sampling.seed, steps, most_windows)) {
    if (changes.grid.size() >= wanted) break;
    WindowBuffers<Real> buffers(planned.layout, 1);
    buffers.set_grid_parts(chain.grid_partials());
    const codelets::WindowArguments arguments = chain.arguments(planned.layout, planned.extent);
    const codelets::WindowHandles handles = chain.handles(buffers);
    codelets::propose_moves<Real>(handles, arguments, planned.range, chain.chain_state.get(),
                                  chain.lattice.get(), buffers.outside.get());
    submit_energies(chain, buffers, arguments);
    codelets::mm_pair_reduce<Real>(handles, arguments, raw_handles(buffers.mm_partials),
                                   buffers.table.get(), buffers.mm_energies.get());
    WindowEnergies<Real>(chain, planned, buffers).append_to(changes);
  }
  for (auto* values : {&changes.grid, &changes.total, &changes.place}) {
    values->resize(std::min(values->size(), wanted));
  }
}

/// An equal number of proposals from each configuration.
EnergyChanges changes_of(BenchSystem& bench, std::span<const Configuration> configurations,
                         Precision precision, std::size_t proposals) {
  EnergyChanges changes;
  const std::size_t parts = configurations.size();
  for (std::size_t i = 0; i < parts; ++i) {
    bench.system.molecules = configurations[i];
    const std::size_t share = proposals * (i + 1) / parts - proposals * i / parts;
    with_precision(precision, [&]<class Real>() { add_changes<Real>(bench, share, changes); });
  }
  return changes;
}

struct MeanAndMaximum {
  double mean = 0;
  double maximum = 0;
};
MeanAndMaximum absolute_difference(std::span<const double> a, std::span<const double> b) {
  MeanAndMaximum result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    result.mean += difference / static_cast<double>(a.size());
    result.maximum = std::max(result.maximum, difference);
  }
  return result;
}

std::vector<Figure> figures_of(const EnergyChanges& changes, const EnergyChanges& reference) {
  if (changes.place != reference.place) {
    throw RunError(
        "proposed positions differ between implementations: a device gives wrong results");
  }
  const MeanAndMaximum grid = absolute_difference(changes.grid, reference.grid);
  const MeanAndMaximum total = absolute_difference(changes.total, reference.total);
  return {{"proposals", static_cast<double>(changes.grid.size())},
          {"grid_mean_error_kj_per_mol", grid.mean},
          {"grid_max_error_kj_per_mol", grid.maximum},
          {"total_mean_error_kj_per_mol", total.mean},
          {"total_max_error_kj_per_mol", total.maximum}};
}

}  // namespace

std::vector<BenchCase> measure_errors(BenchSystem bench, std::span<const BenchTarget> targets,
                                      std::span<const Precision> precisions, std::size_t proposals,
                                      const BenchTarget& preparation) {
  const std::vector<Configuration> configurations =
      make_configurations(bench, proposals, preparation);
  BenchTarget reference_target{Implementation::simd, codelets::kAnyWorker, ""};
  if (starpu_cpu_worker_get_count() == 0) reference_target = preparation;
  reference_target.use();
  const EnergyChanges reference = changes_of(bench, configurations, Precision::fp64, proposals);
  std::vector<BenchCase> cases;
  for (const BenchTarget& target : targets) {
    for (const Precision precision : precisions) {
      const bool is_reference =
          precision == Precision::fp64 && target.implementation == reference_target.implementation;
      EnergyChanges changes = reference;
      if (!is_reference) {
        target.use();
        changes = changes_of(bench, configurations, precision, proposals);
      }
      cases.push_back({"errors", bench.name, value_name(target.implementation),
                       value_name(precision), target.device, figures_of(changes, reference)});
    }
  }
  return cases;
}

}  // namespace starpmc
