// Blocks some of whose steps are near the solute read the same backwards.
#include "sampling/near_moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "kernels/scalar/moves.hpp"
#include "kernels/window_plan.hpp"

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

using Sequence = std::vector<int>;

/// Whom the steps of a phase move, of molecules in this order.
Sequence moved(std::span<const double> order, std::uint64_t first, std::uint64_t steps) {
  std::vector<double> state(STATE_REGION_FIRST);
  state[STATE_REGION_MOLECULES] = static_cast<double>(order.size());
  state.insert(state.end(), order.begin(), order.end());
  Sequence molecules;
  for (std::uint64_t step = first; step < first + steps; ++step) {
    molecules.push_back(scalar::chosen_molecule(0.5, step, state, 1000));
  }
  return molecules;
}

std::vector<double> numbers(std::size_t count) {
  std::vector<double> molecules(count);
  std::iota(molecules.begin(), molecules.end(), 3);
  return molecules;
}

TEST(NearOrder, EachIsMovedOnceInEverySweep) {
  std::vector<double> order = numbers(78);
  shuffle_for_phase(order, 1, 0, 12345);
  EXPECT_NE(order, numbers(78));
  const Sequence sequence = moved(order, 12345, 390);
  for (std::size_t sweep = 0; sweep < 5; ++sweep) {
    Sequence part(sequence.begin() + static_cast<std::ptrdiff_t>(78 * sweep),
                  sequence.begin() + static_cast<std::ptrdiff_t>(78 * (sweep + 1)));
    std::ranges::sort(part);
    for (int i = 0; i < 78; ++i) EXPECT_EQ(part[static_cast<std::size_t>(i)], 3 + i);
  }
}

/// Whatever a phase's length and first step: the sequences of all orders are, read backwards, those
/// of all orders.
TEST(NearOrder, AllOrdersReadTheSameBackwards) {
  for (std::size_t count = 1; count <= 4; ++count) {
    for (std::uint64_t first = 0; first < count; ++first) {
      for (std::uint64_t steps = 1; steps <= 10; ++steps) {
        std::multimap<Sequence, int> forwards;
        std::multimap<Sequence, int> backwards;
        std::vector<double> order = numbers(count);
        do {
          Sequence sequence = moved(order, first, steps);
          forwards.emplace(sequence, 0);
          std::ranges::reverse(sequence);
          backwards.emplace(sequence, 0);
        } while (std::ranges::next_permutation(order).found);
        EXPECT_EQ(forwards, backwards) << count << ' ' << first << ' ' << steps;
      }
    }
  }
}

TEST(NearOrder, EachIsAsProbable) {
  constexpr int kPhases = 48000;
  std::map<std::vector<double>, int> found;
  for (int phase = 0; phase < kPhases; ++phase) {
    std::vector<double> order = numbers(4);
    shuffle_for_phase(order, 7, 2, 2500 + 10000 * static_cast<std::uint64_t>(phase));
    ++found[order];
  }
  ASSERT_EQ(found.size(), 24U);
  double squared = 0;  // chi-squared of 23 degrees of freedom: beyond 49.7 in one of 1000
  for (const auto& [order, count] : found) {
    const double expected = kPhases / 24.0;
    squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(squared, 49.7);
  EXPECT_GT(squared, 7.5);  // 0.1 %: these are no shuffles in turn
}

TEST(NearOrder, DependsOnSeedChainAndStepAlone) {
  const auto order = [](std::uint64_t seed, std::uint32_t chain, std::uint64_t step) {
    std::vector<double> molecules = numbers(30);
    shuffle_for_phase(molecules, seed, chain, step);
    return molecules;
  };
  EXPECT_EQ(order(1, 2, 3), order(1, 2, 3));
  EXPECT_NE(order(1, 2, 3), order(2, 2, 3));
  EXPECT_NE(order(1, 2, 3), order(1, 3, 3));
  EXPECT_NE(order(1, 2, 3), order(1, 2, 4));
}

/// Drawn at random, one of 78 molecules has its fourth visit after some 60 steps, which ends the
/// window.
TEST(NearOrder, WindowsAreFull) {
  const WindowLayout layout{200, 402, 3, 512};
  WindowPlanner planner(layout, 500);
  std::vector<int> order(78);
  std::iota(order.begin(), order.end(), 100);
  planner.move_in_turn(order);
  std::vector<int> plan(static_cast<std::size_t>(plan_size(layout)));
  for (std::uint64_t step = 0; step < 5000;) {
    const int steps = planner.plan({1, step, 0, 200, 2.5}, plan);
    EXPECT_EQ(steps, 198);
    EXPECT_EQ(plan[PLAN_STARTS], 78);
    step += static_cast<std::uint64_t>(steps);
  }
  EXPECT_EQ(planner.plan({1, 33, 0, 78, 2.5}, plan), 78);
  EXPECT_EQ(plan[PLAN_CANDIDATES], 78);
}

}  // namespace
}  // namespace starpmc
