#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "window_pipeline.hpp"

namespace starpmc::test {
namespace {

/// A system whose MM terms are hard in some way.
struct MmCase {
  const char* name;
  SystemOptions options;
  double maximum_translation = 0.25;
  int steps = 30;
};

SystemOptions options(double edge, double coulomb_cutoff, double vdw_cutoff, int waters,
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

std::vector<MmCase> mm_cases() {
  return {{"ReachBeyondHalfTheBox", options(20, 9.9, 8, 60, 9)},
          {"SitesInOtherImages", options(12, 6, 6, 40, 9)},
          {"ManyCells", options(42, 8, 7, 900, 100)},
          {"ColumnsThatWrap", options(26, 9, 10, 400, 50)},
          {"VdwReachesFarther", options(30, 5, 9, 300, 40)},
          {"ParticlesOnly", options(24, 7, 6, 0, 200)},
          {"FewMolecules", options(18, 6, 6, 3, 2), 0.25, 64},
          {"WindowHoldsAll", options(18, 6, 6, 6, 1), 0.25, 64},
          {"LongMoves", options(30, 7, 7, 300, 20), 9.0, 64},
          {"Revisits", options(24, 7, 6, 30, 5), 0.6, 40}};
}

/// Some molecules lie outside the box, and two in one place.
TestSystem make_mm_system(const MmCase& mm) {
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
template <class Real, class Level>
Buffers<Real> evaluate_mm(const TestSystem& system, const MmCase& mm) {
  HostPipeline<Level> pipeline;
  Buffers<Real> b(system, mm.steps, 2 * mm.steps + 2);
  b.chain_state[STATE_MAXIMUM_TRANSLATION] = mm.maximum_translation;
  pipeline.propose(b, step_range(100, mm.steps));
  // What is not written must not be relied on.
  std::fill(b.table.begin(), b.table.end(), PairReal<Real>{7});
  const Window window = b.window();
  const int molecules = system.shape.molecules;
  const int cuts[] = {0, molecules / 3, molecules / 3, molecules - 1, molecules};
  std::vector<std::vector<double>> partials;
  for (std::size_t i = 0; i + 1 < std::size(cuts); ++i) {
    partials.emplace_back(b.mm_partial.size(), 3.0);
    Level::mm_pair(MmPairArguments<Real>{window, b.lattice, b.lattice_sites, b.outside, cuts[i],
                                         cuts[i + 1], partials.back()});
  }
  Level::mm_pair_table(MmPairTableArguments<Real>{window, b.table});
  const std::vector<std::span<const double>> spans(partials.begin(), partials.end());
  Level::mm_pair_reduce(MmPairReduceArguments<Real>{window, spans, b.table, b.mm_energies});
  return b;
}

/// Overlapping molecules are limited, which the naive sums know nothing of.
bool limited(const MolecularEnergy& energy) {
  return energy.coulomb.value > STARPMC_LARGEST_PAIR_ENERGY ||
         energy.vdw.value > STARPMC_LARGEST_PAIR_ENERGY;
}

template <class Real>
void expect_naive_mm(const Buffers<Real>& b, double tolerance) {
  const TestSystem& system = *b.system;
  const Window window = b.window();
  const auto rows = static_cast<std::size_t>(entry_capacity(b.layout));
  const std::vector<int> entries = active_entries(window);
  const auto expect = [&](double found, const Sum& sum, const char* term, int entry, int other) {
    ASSERT_NEAR(found, sum.value, tolerance * sum.scale + 1e-11)
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
      if (limited(pair)) continue;
      const std::size_t index = e * rows + static_cast<std::size_t>(other);
      expect(b.table[index], pair.coulomb, "Coulomb", entry, other);
      expect(b.table[rows * rows + index], pair.vdw, "vdW", entry, other);
    }
  }
}

class MmTerms : public testing::TestWithParam<MmCase> {
 protected:
  template <class Real, class Level>
  void expect_naive(double tolerance) {
    const TestSystem system = make_mm_system(GetParam());
    expect_naive_mm(evaluate_mm<Real, Level>(system, GetParam()), tolerance);
  }
};

TEST_P(MmTerms, ScalarFp64) { expect_naive<double, ScalarLevel>(2e-12); }
TEST_P(MmTerms, SimdFp64) { expect_naive<double, SimdLevel>(2e-12); }
// Pair terms in fp32 have relative errors of some 1e-7, in r^-12 of 12 times as much.
TEST_P(MmTerms, ScalarMixed) { expect_naive<float, ScalarLevel>(5e-6); }
TEST_P(MmTerms, SimdMixed) { expect_naive<float, SimdLevel>(5e-6); }
TEST_P(MmTerms, ScalarFixed) { expect_naive<FixedCoordinate, ScalarLevel>(5e-6); }
TEST_P(MmTerms, SimdFixed) { expect_naive<FixedCoordinate, SimdLevel>(5e-6); }

/// The same source for lesser instruction sets, as far as this machine has them.
TEST_P(MmTerms, EveryInstructionSet) {
  for (const std::int64_t target :
       std::initializer_list<std::int64_t>{HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    expect_naive<double, SimdLevel>(2e-12);
    expect_naive<float, SimdLevel>(5e-6);
    expect_naive<FixedCoordinate, SimdLevel>(5e-6);
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, MmTerms, testing::ValuesIn(mm_cases()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace starpmc::test
