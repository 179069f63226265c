#include "bench/planned_window.hpp"

#include <gtest/gtest.h>

namespace starpmc {
namespace {

constexpr int kMolecules = 40;

/// Molecules of three sites, the second without a charge.
struct Fixture {
  TopologyShape shape{1, 3, 1, kMolecules, 64, 0, {}};
  std::vector<double> reals =
      std::vector<double>(static_cast<std::size_t>(topology_reals_size(shape)), 0.0);
  std::vector<int> integers =
      std::vector<int>(static_cast<std::size_t>(topology_integers_size(shape)), 0);

  Fixture() {
    integers[static_cast<std::size_t>(topology_site_count(shape, 0))] = 3;
    for (const int site : {0, 2}) {
      reals[static_cast<std::size_t>(topology_site(shape, 0, site) + 3)] = 0.4;
    }
  }
  Topology topology() const { return {shape, reals, integers}; }
};

int molecule_of(const PlannedWindow& planned, const Topology& topology, int entry) {
  return Window{planned.layout, {}, topology, planned.plan, {}}.molecule_of_entry(entry);
}

std::vector<int> entries_of(const PlannedWindow& planned) {
  std::vector<int> entries;
  for (int c = 0; c < planned.extent.candidates; ++c) entries.push_back(c);
  for (int s = 0; s < planned.extent.starts; ++s) entries.push_back(start_entry(planned.layout, s));
  return entries;
}

TEST(PlannedWindow, WindowsFollowOneAnother) {
  const Fixture fixture;
  const auto windows = plan_windows(fixture.shape, 7, 30, 3);
  ASSERT_EQ(windows.size(), 3U);
  EXPECT_EQ(windows[0].range.first_step, 0U);
  EXPECT_EQ(windows[1].range.first_step, windows[0].range.steps);
  EXPECT_EQ(windows[2].range.first_step, windows[0].range.steps + windows[1].range.steps);
}

TEST(PlannedWindow, PairsAreThoseOfACount) {
  const Fixture fixture;
  const Topology topology = fixture.topology();
  for (const PlannedWindow& planned : plan_windows(fixture.shape, 7, 30, 4)) {
    const std::vector<int> entries = entries_of(planned);
    double pairs = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool same = molecule_of(planned, topology, entries[i]) ==
                          molecule_of(planned, topology, entries[j]);
        pairs += same ? 0 : 9;
      }
    }
    EXPECT_GT(planned.extent.candidates, planned.extent.steps) << "no revisit: nothing tested";
    EXPECT_EQ(planned.table_pairs(fixture.shape), pairs);
    EXPECT_EQ(planned.charged_sites(topology), 2 * planned.extent.candidates);
    EXPECT_EQ(planned.outside_pairs(fixture.shape),
              9.0 * static_cast<double>(entries.size()) * (kMolecules - planned.extent.starts));
  }
  EXPECT_EQ(charged_sites_of_lattice(topology), 2 * kMolecules);
}

}  // namespace
}  // namespace starpmc
