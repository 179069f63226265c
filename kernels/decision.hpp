#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/exact_blocks.hpp"
#include "kernels/exact_energies.hpp"
#include "kernels/scalar/tune_step_sizes.hpp"

namespace starpmc {

/// Entry each molecule of the window occupies, and its energies with the solute.
struct Occupant {
  int entry;
  double field[FIELDS];
};

/// Accepts or rejects the steps of a window in order (src/sampling/README.md, "Steps").
/// @tparam Exchange adds `entered - left` to energies: (const Real* left, const Real* entered,
///                  double* energies, std::size_t count)
template <class Real, class Exchange>
class Decision {
 public:
  Decision(const MetropolisDecideArguments<Real>& arguments, Exchange exchange,
           ExactGridSum exact_grid_energy)
      : a_(arguments),
        exchange_(exchange),
        window_(arguments.window),
        exact_(window_, arguments.certification, arguments.lattice, exact_grid_energy),
        rows_(static_cast<std::size_t>(entry_capacity(window_.layout))),
        occupants_(static_cast<std::size_t>(window_.starts())) {
    for (int slot = 0; slot < window_.starts(); ++slot) {
      Occupant& occupant = occupants_[static_cast<std::size_t>(slot)];
      occupant.entry = start_entry(window_.layout, slot);
      for (int field = 0; field < FIELDS; ++field) {
        occupant.field[field] = a_.field_cache[cache_index(field, slot)];
      }
    }
  }

  void run() {
    for (int step = 0; step < window_.steps(); ++step) {
      const bool accepted = decide(step);
      record(step, accepted);
    }
    for (int slot = 0; slot < window_.starts(); ++slot) store(slot);
    a_.chain_state[STATE_PROPOSED] += window_.steps();
    tune_step_sizes(a_.tuning, a_.chain_state);
  }

 private:
  std::size_t cache_index(int field, int slot) const {
    const int molecule = window_.plan[plan_start_molecule(window_.layout) + slot];
    return static_cast<std::size_t>(field * window_.layout.molecules + molecule);
  }

  /// The step's candidate that starts from the entry its molecule occupies.
  int candidate_from(int step, int entry) const {
    int candidate = window_.plan[plan_step_first(window_.layout) + step];
    while (window_.plan[plan_candidate_parent(window_.layout) + candidate] != entry) ++candidate;
    return candidate;
  }

  /// Of a candidate, in a term that depends on no other molecule; 0 where there is none.
  double field_energy(std::size_t field, std::size_t candidate) const {
    const bool is_static = field < STATIC_TERMS;
    const std::span<const double> energies = is_static ? a_.nuclei_energies : a_.grid_energies;
    const std::size_t array = is_static ? field : field - STATIC_TERMS;
    const auto candidates = static_cast<std::size_t>(window_.layout.candidates);
    return energies.empty() ? 0 : energies[array * candidates + candidate];
  }

  /// Eq. 1 of Miranda et al. 2016.
  bool decide(int step) {
    const int slot = window_.plan[plan_step_slot(window_.layout) + step];
    Occupant& occupant = occupants_[static_cast<std::size_t>(slot)];
    const int candidate = candidate_from(step, occupant.entry);
    const auto to = static_cast<std::size_t>(candidate);
    const auto from = static_cast<std::size_t>(occupant.entry);
    double field[FIELDS];
    double change[TERMS];
    for (std::size_t term = 0; term < MM_TERMS; ++term) {
      change[term] = a_.mm_energies[term * rows_ + to] - a_.mm_energies[term * rows_ + from];
    }
    for (std::size_t k = 0; k < FIELDS; ++k) {
      field[k] = field_energy(k, to);
      change[MM_TERMS + k] = field[k] - occupant.field[k];
    }
    change[TERM_QMMM_POLARISATION] = polarisation_change(occupant.entry, candidate);
    double total = 0;
    for (const double term : change) total += term;
    const double threshold =
        window_.entries[static_cast<std::size_t>(entries_threshold(window_.layout) + step)];
    if (!std::isfinite(total)) a_.chain_state[STATE_NOT_FINITE] += 1;
    double magnitude = 0;
    const int inexact = a_.certification.exact_blocks.empty() ? STATIC_TERMS : FIELDS;
    for (int k = 0; k < inexact; ++k) magnitude += std::abs(field[k]) + std::abs(occupant.field[k]);
    for (std::size_t term = 0; term < MM_TERMS; ++term) {
      magnitude += STARPMC_MAGNITUDE_WEIGHT(static_cast<int>(term)) *
                   (std::abs(a_.mm_energies[term * rows_ + to]) +
                    std::abs(a_.mm_energies[term * rows_ + from]));
    }
    const double bound = decision_error_bound(a_.certification.bound, magnitude);
    if (a_.certification.active && std::abs(total - threshold) <= bound) {
      const GridChange grid{change[TERM_QMMM_GRID], std::abs(field[FIELD_QMMM_GRID]) +
                                                        std::abs(occupant.field[FIELD_QMMM_GRID])};
      const Step step_in_doubt{
          slot, occupant.entry, candidate, threshold, change[TERM_QMMM_POLARISATION], total};
      const double exact = certified(step_in_doubt, grid);
      double& largest = a_.chain_state[STATE_LARGEST_ERROR];
      largest = std::max(largest, std::abs(total - exact) / bound);
      if (!(exact < threshold)) return false;
    } else if (!(total < threshold)) {
      return false;
    }

    for (std::size_t term = 0; term < TERMS; ++term) {
      a_.chain_state[STATE_TERMS + term] += change[term];
    }
    const bool moved = is_move(occupant.entry, candidate);
    a_.chain_state[STATE_ACCEPTED] += moved ? 1 : 0;
    respond(occupant.entry, candidate);
    std::copy_n(field, FIELDS, occupant.field);
    occupant.entry = candidate;
    exchange(from, to);
    return moved;
  }

  /// A candidate that would leave the region that steps are confined to stays where it is, which
  /// counts as a rejection (confine_pose).
  bool is_move(int from, int to) const {
    if (a_.chain_state[STATE_REGION_MOLECULES] <= 0) return true;
    for (int field = 0; field < POSE_FIELDS; ++field) {
      if (window_.field(field, from) != window_.field(field, to)) return true;
    }
    return false;
  }

  /// As the window's kernels found it, kJ/mol.
  struct GridChange {
    double value;
    double magnitude;  ///< of the energies behind it
  };

  struct Step {
    int slot;
    int from;
    int to;
    double threshold;
    double polarisation;  ///< its change: exact
    double quick;         ///< the energy change as the window's kernels found it
  };

  /// The step's energy change: exact, but for the grid term's part where its error decides nothing.
  double certified(const Step& step, const GridChange& grid) {
    a_.chain_state[STATE_CERTIFIED] += 1;
    const std::uint64_t others = exact_.change_of_others(
        step.slot, step.from, step.to,
        [&](int other) { return occupants_[static_cast<std::size_t>(other)].entry; });
    if (a_.certification.exact_blocks.empty()) {
      return exact_near(
          others + scalar::exact_units(grid.value) + scalar::exact_units(step.polarisation),
          step.quick);
    }
    const double quick = exact_near(others, step.quick - grid.value) + grid.value;
    if (std::abs(quick - step.threshold) >
        grid_error_bound(a_.certification.bound, grid.magnitude)) {
      return quick;
    }
    return exact_near(others + exact_.change_of_grid(step.from, step.to), quick);
  }

  /// Of a move from one entry to another: -(d . (2 Y + d))/2 with d the change of y. Exact.
  double polarisation_change(int from, int to) const {
    const ResponseArguments& response = a_.response;
    if (response.components == 0) return 0;
    const int* const before = response.of_entry(window_, from);
    const int* const after = response.of_entry(window_, to);
    std::int64_t twice = 0;
    for (std::ptrdiff_t k = 0; k < response.components; ++k) {
      const std::int64_t change = after[k] - before[k];
      twice -= change * (2 * response.total[static_cast<std::size_t>(k)] + change);
    }
    return static_cast<double>(twice) / (2 * STARPMC_RESPONSE_ENERGY_UNITS);
  }

  /// Y of a molecule at `to` instead of at `from`.
  void respond(int from, int to) {
    const ResponseArguments& response = a_.response;
    if (response.components == 0) return;
    const int* const before = response.of_entry(window_, from);
    const int* const after = response.of_entry(window_, to);
    for (std::ptrdiff_t k = 0; k < response.components; ++k) {
      response.total[static_cast<std::size_t>(k)] += after[k] - before[k];
    }
  }

  /// Every entry now meets the molecule at `to` instead of at `from`.
  void exchange(std::size_t from, std::size_t to) {
    for (std::size_t term = 0; term < MM_TERMS; ++term) {
      const PairReal<Real>* const left = &a_.table[(term * rows_ + from) * rows_];
      const PairReal<Real>* const entered = &a_.table[(term * rows_ + to) * rows_];
      double* const energies = &a_.mm_energies[term * rows_];
      const auto starts = static_cast<std::size_t>(window_.layout.candidates);
      exchange_(left, entered, energies, static_cast<std::size_t>(window_.candidates()));
      exchange_(left + starts, entered + starts, energies + starts,
                static_cast<std::size_t>(window_.starts()));
    }
  }

  void record(int step, bool accepted) {
    const auto steps = static_cast<std::size_t>(window_.layout.steps);
    const auto s = static_cast<std::size_t>(step);
    a_.record[RECORD_ACCEPTED * steps + s] = accepted ? 1 : 0;
    for (std::size_t term = 0; term < TERMS; ++term) {
      a_.record[(RECORD_TERMS + term) * steps + s] = a_.chain_state[STATE_TERMS + term];
    }
  }

  void store(int slot) {
    const Occupant& occupant = occupants_[static_cast<std::size_t>(slot)];
    if (occupant.entry >= window_.layout.candidates) return;  // never left its start
    const int molecule = window_.plan[plan_start_molecule(window_.layout) + slot];
    const int stride = window_.layout.molecules;
    for (int field = 0; field < POSE_FIELDS; ++field) {
      a_.lattice[static_cast<std::size_t>(field * stride + molecule)] =
          window_.field(field, occupant.entry);
    }
    for (int k = 0; k < 3 * window_.layout.sites; ++k) {
      a_.lattice_sites[static_cast<std::size_t>(k * stride + molecule)] = stored_site<Real>(
          window_.field(k % 3, occupant.entry), window_.field(POSE_FIELDS + k, occupant.entry),
          window_.interaction.box[k % 3]);
    }
    for (int field = 0; field < FIELDS; ++field) {
      a_.field_cache[cache_index(field, slot)] = occupant.field[field];
    }
    const std::ptrdiff_t components = a_.response.components;
    std::copy_n(a_.response.of_entry(window_, occupant.entry), components,
                a_.response.molecules.begin() + molecule * components);
  }

  const MetropolisDecideArguments<Real>& a_;
  Exchange exchange_;
  const Window& window_;
  ExactEnergies exact_;
  std::size_t rows_;
  std::vector<Occupant> occupants_;
};

}  // namespace starpmc
