#pragma once

#include "kernels/whole_units.hpp"
#include "naive_energies.hpp"

/// A fixed reference and its response as plain functions of position, and chains with it.
namespace starpmc::test {

/// Potentials of clouds of charge around a few places, smooth everywhere but at half a box.
class SmoothReference {
 public:
  explicit SmoothReference(int components, unsigned seed = 23) : components_(components) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> place(-1.5, 1.5);
    std::uniform_real_distribution<double> strength(-1, 1);
    constexpr int kPlaces = 5;
    for (int i = 0; i < kPlaces; ++i)
      places_.push_back({place(random), place(random), place(random)});
    for (int k = 0; k <= components; ++k) {
      std::vector<double> row;
      for (int i = 0; i < kPlaces; ++i) row.push_back((k == 0 ? 400 : 20) * strength(random));
      strengths_.push_back(row);
    }
    for (int k = 0; k < components; ++k) {
      mean_.push_back(static_cast<std::int64_t>(std::rint(3e5 * strength(random))));
    }
  }

  int components() const { return components_; }
  /// Y0, in units.
  const std::vector<std::int64_t>& mean() const { return mean_; }

  /// Energy of a molecule, kJ/mol.
  double energy(const TestSystem& system, const Placed& molecule) const {
    return sum_over_sites(system, molecule, 0);
  }
  /// y of a molecule, in units.
  int response(const TestSystem& system, const Placed& molecule, int k) const {
    return static_cast<int>(
        std::rint(STARPMC_RESPONSE_UNITS * sum_over_sites(system, molecule, k + 1)));
  }
  std::vector<double> total_response(const TestSystem& system,
                                     const std::vector<double>& lattice) const {
    std::vector<double> total;
    for (int k = 0; k < components_; ++k) {
      double sum = -static_cast<double>(mean_[static_cast<std::size_t>(k)]);
      for (int m = 0; m < system.shape.molecules; ++m) {
        sum += response(system, placed_molecule(system, lattice, m), k);
      }
      total.push_back(sum / STARPMC_RESPONSE_UNITS);
    }
    return total;
  }

 private:
  double sum_over_sites(const TestSystem& system, const Placed& molecule, int row) const {
    double sum = 0;
    for (int site = 0; site < system.topology().site_count(molecule.type); ++site) {
      const Vector position = site_position(system, molecule, site);
      for (std::size_t i = 0; i < places_.size(); ++i) {
        const double r = distance(position, places_[i], system.interaction);
        sum += charge_of(system, molecule.type, site) *
               strengths_[static_cast<std::size_t>(row)][i] / std::sqrt(r * r + 4);
      }
    }
    return sum;
  }

  int components_;
  std::vector<Vector> places_;
  std::vector<std::vector<double>> strengths_;  ///< of the density, then of each component
  std::vector<std::int64_t> mean_;
};

/// The density and the nuclear charges are in the reference.
inline TestSystem without_density(TestSystem system) {
  system.blocks.clear();
  system.points.clear();
  system.point_position.clear();
  const auto nuclei = static_cast<std::size_t>(system.nuclei);
  std::fill_n(system.solute.begin() + static_cast<std::ptrdiff_t>(3 * nuclei), nuclei, 0.0);
  return system;
}

/// What a chain with a reference did.
struct ReferenceOutcome {
  std::vector<int> accepted;
  std::vector<double> lattice;
  std::vector<double> polarisation;  ///< running total after each step
  std::vector<double> field;         ///< the same of the density terms
  std::vector<std::int64_t> response_total;
  std::vector<int> molecule_response;
  double certified = 0;
};

/// The energy that a molecule shares with all others and the reference, but for the polarisation.
inline double naive_energy_of(const TestSystem& system, const SmoothReference& reference,
                              const std::vector<double>& lattice, int moved, const Placed& placed) {
  double energy = reference.energy(system, placed) + naive_nuclei(system, placed).vdw.value;
  for (int m = 0; m < system.shape.molecules; ++m) {
    if (m == moved) continue;
    const MolecularEnergy pair = naive_pair(system, placed, placed_molecule(system, lattice, m));
    energy += pair.coulomb.value + pair.vdw.value;
  }
  return energy;
}

/// Step after step, each by all energies from the beginning.
inline ReferenceOutcome naive_reference_chain(const TestSystem& system,
                                              const SmoothReference& reference, std::uint64_t first,
                                              int steps) {
  ReferenceOutcome outcome;
  Buffers<double> b(system, 1, 4);
  const auto polarisation = [&] {
    double energy = 0;
    for (const double y : reference.total_response(system, b.lattice)) energy -= y * y / 2;
    return energy;
  };
  const double start = polarisation();
  for (int step = 0; step < steps; ++step) {
    const StepRange range = step_range(first + static_cast<std::uint64_t>(step), 1);
    b.plan_ahead(range);
    scalar::propose_moves(ProposeMovesArguments<double>{b.layout, system.interaction, range,
                                                        system.topology(), b.chain_state, b.lattice,
                                                        b.plan, b.entries, b.outside});
    const int moved = b.window().molecule_of_candidate(0);
    const std::vector<double> before = b.lattice;
    const double old_polarisation = polarisation();
    const double old_energy = naive_energy_of(system, reference, b.lattice, moved,
                                              placed_molecule(system, b.lattice, moved));
    for (int field = 0; field < POSE_FIELDS; ++field) {
      b.lattice[static_cast<std::size_t>(field * system.padded + moved)] =
          b.window().field(field, 0);
    }
    const double change = naive_energy_of(system, reference, b.lattice, moved,
                                          placed_molecule(system, b.lattice, moved)) +
                          polarisation() - old_energy - old_polarisation;
    const bool accepted = change < b.entries[static_cast<std::size_t>(entries_threshold(b.layout))];
    if (!accepted) b.lattice = before;
    outcome.accepted.push_back(accepted ? 1 : 0);
    outcome.polarisation.push_back(polarisation() - start);
  }
  outcome.lattice = b.lattice;
  return outcome;
}

/// By a window's operations; the candidates' energies and responses come from the reference's
/// functions.
template <class Real, class Pipeline>
ReferenceOutcome reference_chain(Pipeline& pipeline, const TestSystem& system,
                                 const SmoothReference& reference, std::uint64_t first, int steps,
                                 int window, double bound) {
  Buffers<Real> b(system, window, 2 * window + 2);
  const auto components = static_cast<std::size_t>(reference.components());
  const auto padded = static_cast<std::size_t>(system.padded);
  b.certified = bound > 0;
  b.bound = {bound, 0, 0};
  b.components = reference.components();
  b.field_cache = naive_field_cache(system, system.lattice);
  b.responses.assign(components * static_cast<std::size_t>(b.layout.candidates), 0);
  b.molecule_response.assign(components * padded, 0);
  for (std::size_t k = 0; k < components; ++k) {
    b.response_total.push_back(-reference.mean()[k]);
  }
  for (int m = 0; m < system.shape.molecules; ++m) {
    const Placed placed = placed_molecule(system, b.lattice, m);
    const auto at = static_cast<std::size_t>(m);
    b.field_cache[FIELD_QMMM_GRID * padded + at] =
        whole_units(reference.energy(system, placed), kGridUnit);
    for (std::size_t k = 0; k < components; ++k) {
      const int y = reference.response(system, placed, static_cast<int>(k));
      b.molecule_response[at * components + k] = y;
      b.response_total[k] += y;
    }
  }
  ReferenceOutcome outcome;
  for (int done = 0; done < steps;) {
    const int most = std::min(window, steps - done);
    pipeline.propose(b, step_range(first + static_cast<std::uint64_t>(done), most));
    pipeline.evaluate(b);
    for (int c = 0; c < b.window().candidates(); ++c) {
      const Placed placed = placed_entry(system, b.window(), c);
      const auto at = static_cast<std::size_t>(c);
      b.grid_energies[at] = whole_units(reference.energy(system, placed), kGridUnit);
      for (std::size_t k = 0; k < components; ++k) {
        b.responses[at * components + k] = reference.response(system, placed, static_cast<int>(k));
      }
    }
    pipeline.decide(b, no_tuning());
    const int made = b.window().steps();
    const auto stride = static_cast<std::size_t>(b.layout.steps);
    for (std::size_t s = 0; s < static_cast<std::size_t>(made); ++s) {
      const auto total = [&](std::size_t term) {
        return b.record[(RECORD_TERMS + term) * stride + s];
      };
      outcome.accepted.push_back(static_cast<int>(b.record[RECORD_ACCEPTED * stride + s]));
      outcome.polarisation.push_back(total(TERM_QMMM_POLARISATION));
      outcome.field.push_back(total(TERM_QMMM_GRID));
    }
    done += made;
  }
  outcome.lattice = b.lattice;
  outcome.response_total = b.response_total;
  outcome.molecule_response = b.molecule_response;
  outcome.certified = b.chain_state[STATE_CERTIFIED];
  return outcome;
}

}  // namespace starpmc::test
