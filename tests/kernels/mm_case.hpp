#pragma once

#include "window_pipeline.hpp"

/// Systems whose MM terms are hard to get right, and what tests expect of them.
namespace starpmc::test {

/// A system whose MM terms are hard in some way.
struct MmCase {
  const char* name;
  SystemOptions options;
  double maximum_translation = 0.25;
  int steps = 30;
};

inline SystemOptions mm_options(double edge, double coulomb_cutoff, double vdw_cutoff, int waters,
                                int particles) {
  SystemOptions o;
  o.edge = edge;
  o.coulomb_cutoff = coulomb_cutoff;
  o.vdw_cutoff = vdw_cutoff;
  o.waters = waters;
  o.particles = particles;
  o.grid_points = 10;
  return o;
}

inline std::vector<MmCase> mm_cases() {
  return {{"ReachBeyondHalfTheBox", mm_options(20, 9.9, 8, 60, 9)},
          {"SitesInOtherImages", mm_options(12, 6, 6, 40, 9)},
          {"ManyCells", mm_options(42, 8, 7, 900, 100)},
          {"ColumnsThatWrap", mm_options(26, 9, 10, 400, 50)},
          {"VdwReachesFarther", mm_options(30, 5, 9, 300, 40)},
          {"ParticlesOnly", mm_options(24, 7, 6, 0, 200)},
          {"FewMolecules", mm_options(18, 6, 6, 3, 2), 0.25, 64},
          {"WindowHoldsAll", mm_options(18, 6, 6, 6, 1), 0.25, 64},
          {"LongMoves", mm_options(30, 7, 7, 300, 20), 9.0, 64},
          {"Revisits", mm_options(24, 7, 6, 30, 5), 0.6, 40}};
}

/// Some molecules lie outside the box, and two in one place.
inline TestSystem make_mm_system(const MmCase& mm) {
  TestSystem system = make_system(mm.options);
  const auto padded = static_cast<std::size_t>(system.padded);
  for (std::size_t m = 0; m < static_cast<std::size_t>(system.shape.molecules); m += 5) {
    system.lattice[m % 3 * padded + m] += (m % 2 == 0 ? 1 : -1) * system.interaction.box[m % 3];
  }
  if (system.shape.molecules > 20) {
    for (std::size_t k = 0; k < 3; ++k) {
      system.lattice[k * padded + 1] = system.lattice[k * padded] + 0.3;
    }
  }
  return system;
}

/// The MM operations of a window, the lattice cut where vectors and types do not end.
template <class Real, class Pipeline>
Buffers<Real> evaluate_mm(Pipeline& pipeline, const TestSystem& system, const MmCase& mm) {
  Buffers<Real> b(system, mm.steps, 2 * mm.steps + 2);
  b.chain_state[STATE_MAXIMUM_TRANSLATION] = mm.maximum_translation;
  pipeline.propose(b, step_range(100, mm.steps));
  // What is not written must not be relied on.
  std::fill(b.table.begin(), b.table.end(), PairReal<Real>{7});
  std::fill(b.mm_partial.begin(), b.mm_partial.end(), 3.0);
  const int molecules = system.shape.molecules;
  pipeline.evaluate_mm(b, std::array{0, molecules / 3, molecules / 3, molecules - 1, molecules});
  return b;
}

/// Overlapping molecules are limited, which the naive sums know nothing of.
inline bool limited(const MolecularEnergy& energy) {
  return energy.coulomb.value > STARPMC_LARGEST_PAIR_ENERGY ||
         energy.vdw.value > STARPMC_LARGEST_PAIR_ENERGY;
}

/// Errors of the energies at most `tolerance` times the sum of the terms' magnitudes, and the
/// rounding to whole units.
template <class Real>
void expect_naive_mm(const Buffers<Real>& b, double tolerance) {
  const TestSystem& system = *b.system;
  const Window window = b.window();
  const auto rows = static_cast<std::size_t>(entry_capacity(b.layout));
  const std::vector<int> entries = active_entries(window);
  const Meetings meetings(window);
  const auto expect = [&](double found, const Sum& sum, const char* term, int entry, int other) {
    const int rounded = other < 0 ? system.shape.molecules : 1;
    ASSERT_NEAR(found, sum.value, tolerance * sum.scale + rounded * kPairUnit<Real> / 2 + 1e-11)
        << term << " of entries " << entry << ", " << other;
  };
  for (const int entry : entries) {
    const Placed placed = placed_entry(system, window, entry);
    const int molecule = window.molecule_of_entry(entry);
    MolecularEnergy all;
    bool any_limited = false;
    for (int other = 0; other < system.shape.molecules; ++other) {
      if (other == molecule) continue;
      const MolecularEnergy pair =
          naive_pair(system, placed, placed_molecule(system, b.lattice, other));
      all.coulomb.add(pair.coulomb);
      all.vdw.add(pair.vdw);
      any_limited = any_limited || limited(pair);
    }
    const auto e = static_cast<std::size_t>(entry);
    if (!any_limited) {
      expect(b.mm_energies[e], all.coulomb, "Coulomb", entry, -1);
      expect(b.mm_energies[rows + e], all.vdw, "vdW", entry, -1);
    }
    for (const int other : entries) {
      MolecularEnergy pair;
      if (molecule != window.molecule_of_entry(other)) {
        pair = naive_pair(system, placed, placed_entry(system, window, other));
      }
      const std::size_t index = static_cast<std::size_t>(other) * rows + e;
      if (limited(pair) || !meetings.has(entry, other)) continue;
      expect(b.table[index], pair.coulomb, "Coulomb", entry, other);
      expect(b.table[rows * rows + index], pair.vdw, "vdW", entry, other);
    }
  }
}

}  // namespace starpmc::test
