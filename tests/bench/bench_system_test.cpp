#include "bench/bench_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

const BenchPreset& preset(std::string_view key) {
  for (const BenchPreset& candidate : bench_presets()) {
    if (candidate.key == key) return candidate;
  }
  throw std::logic_error("no such preset");
}

TEST(BenchSystem, PresetsAreThePapersTable1) {
  EXPECT_EQ(preset("R").waters, 500U);
  EXPECT_EQ(preset("R").points, 183'356U);
  EXPECT_EQ(preset("A").waters, 1301U);
  EXPECT_EQ(preset("A").points, 1'772'972U);
  EXPECT_EQ(preset("B").waters, 5000U);
  EXPECT_EQ(preset("B").points, 1'772'972U);
  EXPECT_EQ(preset("C").waters, 5000U);
  EXPECT_EQ(preset("C").points, 2'992'458U);
  EXPECT_EQ(preset("C").copies, 2U);
}

TEST(BenchSystem, TwoArgininesStandApart) {
  BenchOverrides few;
  few.waters = 400;
  few.points = 10'000;
  const BenchSystem bench = make_bench_system(preset("C"), few);
  ASSERT_TRUE(bench.system.solute.has_value());
  const Solute& solute = *bench.system.solute;
  ASSERT_EQ(solute.atom_count(), 72U);
  EXPECT_EQ(bench.system.molecules.size(), 400U);
  EXPECT_EQ(bench.grid.size(), 10'000U);
  double nearest = 100;
  for (std::size_t i = 0; i < 36; ++i) {
    for (std::size_t j = 36; j < 72; ++j) {
      nearest = std::min(nearest, norm(solute.positions[i] - solute.positions[j]));
    }
  }
  EXPECT_GT(nearest, 3.9);
  const int protons =
      std::accumulate(solute.atomic_numbers.begin(), solute.atomic_numbers.end(), 0);
  const double electrons =
      -std::accumulate(bench.grid.charge.begin(), bench.grid.charge.end(), 0.0);
  EXPECT_NEAR(electrons, protons - 2, 1e-9);
}

TEST(BenchSystem, CutoffIsHalfTheEdgeOrThePresets) {
  BenchOverrides few;
  few.waters = 300;
  few.points = 1000;
  const BenchSystem solvated = make_bench_system(preset("R"), few);
  EXPECT_DOUBLE_EQ(solvated.settings.interaction.coulomb_cutoff_angstrom,
                   solvated.system.box.shortest_edge() / 2);
  const BenchSystem water = make_bench_system(preset("spce"), few);
  EXPECT_EQ(water.settings.interaction.coulomb_cutoff_angstrom, 10);
  EXPECT_FALSE(water.system.solute.has_value());
  EXPECT_EQ(water.grid.size(), 0U);
}

TEST(BenchSystem, BoxTooSmallForTheCutoffIsRefused) {
  BenchOverrides few;
  few.waters = 100;
  try {
    make_bench_system(preset("spce"), few);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("--waters"), testing::HasSubstr("100"),
                               testing::HasSubstr("more waters")));
  }
}

TEST(BenchSystem, StoredGridOfTheSameBoxIsTaken) {
  BenchOverrides few;
  few.waters = 100;
  few.points = 3000;
  const BenchSystem first = make_bench_system(preset("R"), few);
  BenchOverrides stored;
  stored.waters = 100;
  stored.grid_file = "grid-0.bin";
  stored.grid = first.grid;
  const BenchSystem second = make_bench_system(preset("R"), stored);
  EXPECT_TRUE(first.synthetic_grid);
  EXPECT_FALSE(second.synthetic_grid);
  EXPECT_EQ(second.grid.charge, first.grid.charge);
}

/// As a run does with the same grid: the saved one has all points.
TEST(BenchSystem, PointsWithoutChargeOfAStoredGridAreDropped) {
  BenchOverrides few;
  few.waters = 100;
  few.points = 3000;
  BenchOverrides stored;
  stored.waters = 100;
  stored.grid_file = "grid-0.bin";
  stored.grid = make_bench_system(preset("R"), few).grid;
  const std::size_t charged = stored.grid->size();
  for (auto axis : {&DensityGrid::x, &DensityGrid::y, &DensityGrid::z, &DensityGrid::charge}) {
    ((*stored.grid).*axis).push_back(1e-12);
  }
  if (!stored.grid->extent.empty()) stored.grid->extent.push_back(0);
  EXPECT_EQ(make_bench_system(preset("R"), stored).grid.size(), charged);
}

TEST(BenchSystem, ForeignGridIsRefused) {
  BenchOverrides foreign;
  foreign.waters = 100;
  foreign.grid_file = "elsewhere.bin";
  foreign.grid = DensityGrid{{1, 2}, {1, 2}, {1, 2}, {-10, -106}};
  try {
    make_bench_system(preset("R"), foreign);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("elsewhere.bin"),
                                             testing::HasSubstr("does not belong")));
  }
}

}  // namespace
}  // namespace starpmc
