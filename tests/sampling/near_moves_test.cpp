// Blocks some of whose steps are near the solute read the same backwards.
#include "sampling/near_moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace starpmc {
namespace {

std::vector<bool> near_steps(std::uint64_t block, double share) {
  std::vector<bool> near(block);
  for (std::uint64_t at = 0; at < block; ++at) {
    const NearPhase phase = near_phase(block, at, share);
    EXPECT_LE(phase.begin, at);
    EXPECT_GT(phase.end, at);
    EXPECT_LE(phase.end, block);
    near[at] = phase.near;
  }
  return near;
}

TEST(NearPhases, ReadTheSameBackwards) {
  for (const std::uint64_t block : {100U, 101U, 9999U, 24999U, 25000U, 39999U, 40000U, 123457U}) {
    for (const double share : {0.1, 0.5, 0.9}) {
      const std::vector<bool> near = near_steps(block, share);
      EXPECT_TRUE(std::equal(near.begin(), near.end(), near.rbegin())) << block << ' ' << share;
      EXPECT_FALSE(near.front());
      const auto count = static_cast<double>(std::count(near.begin(), near.end(), true));
      EXPECT_NEAR(count / static_cast<double>(block), share, 0.02) << block;
    }
  }
}

TEST(NearPhases, AStepIsInThePhaseThatItsNeighboursSay) {
  for (const std::uint64_t block : {100U, 24999U, 40000U}) {
    NearPhase last{0, 0, true};
    for (std::uint64_t at = 0; at < block; ++at) {
      const NearPhase phase = near_phase(block, at, 0.37);
      if (phase.begin == last.begin && phase.end == last.end) continue;
      EXPECT_EQ(phase.begin, at);
      EXPECT_EQ(last.end, at);
      EXPECT_NE(phase.near, last.near);
      last = phase;
    }
    EXPECT_EQ(last.end, block);
  }
}

TEST(NearPhases, NoneInShortBlocksAndWithoutAShare) {
  EXPECT_FALSE(near_phase(99, 50, 0.5).near);
  EXPECT_FALSE(near_phase(100000, 50000, 0).near);
  EXPECT_EQ(near_phase(100000, 50000, 0).end, 100000U);
}

}  // namespace
}  // namespace starpmc
