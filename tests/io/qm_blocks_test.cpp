// How much of a chain's beginning is left out, by chains whose true ensemble is known.

#include "io/qm_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace starpmc {
namespace {

constexpr double kKt = 2.5;

/// The sampled D keeps a share of itself over each block, and is normal.
std::vector<QmBlock> blocks_that_keep(double kept, double width, std::uint64_t count,
                                      std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  double here = width * normal(random);
  const auto block = [](double difference, bool accepted) {
    QmBlock made;
    made.end.difference_kj_per_mol = kKt * difference;
    made.accepted = accepted;
    return made;
  };
  std::vector<QmBlock> blocks{block(here, true)};
  for (std::uint64_t i = 0; i < count; ++i) {
    const double end = kept * here + std::sqrt(1 - kept * kept) * width * normal(random);
    const bool accepted = uniform(random) < std::exp(here - end);
    blocks.push_back(block(end, accepted));
    if (accepted) here = end;
  }
  return blocks;
}

/// Nearly all blocks are accepted while D hardly changes from one to the next: production begins
/// with a mean D of 0, and -width^2 kT is that of the true ensemble.
TEST(QmBlocks, SlowDifferencesAreForgotten) {
  constexpr double kWidth = 1.5;
  constexpr int kChains = 1000;
  std::mt19937_64 random(5);
  double mean = 0;
  int remembering = 0;
  for (int chain = 0; chain < kChains; ++chain) {
    const std::vector<QmBlock> blocks = blocks_that_keep(0.95, kWidth, 300, random);
    mean += energies_of(blocks, kKt).estimate().mean / kKt / kChains;
    remembering += remembers_start(blocks, kKt) ? 1 : 0;
    EXPECT_LE(forgetting(blocks, kKt).blocks, 75U);
  }
  // With two accepted blocks left out it would be 0.20 too large.
  EXPECT_NEAR(mean, -kWidth * kWidth, 0.09) << remembering;
  EXPECT_LT(remembering, 2 * kChains / 3);
  int short_ones = 0;
  for (int chain = 0; chain < kChains; ++chain) {
    const std::vector<QmBlock> blocks = blocks_that_keep(0.95, kWidth, 60, random);
    short_ones += remembers_start(blocks, kKt) ? 1 : 0;
  }
  EXPECT_GT(short_ones, kChains / 2) << remembering;
}

TEST(QmBlocks, WhatIsFastOrSmallLosesNothing) {
  constexpr int kChains = 500;
  std::mt19937_64 random(6);
  for (const auto& [kept, width] : {std::pair{0.0, 0.3}, {0.0, 1.0}, {0.9, 0.1}}) {
    double more = 0;
    int remembering = 0;
    for (int chain = 0; chain < kChains; ++chain) {
      const std::vector<QmBlock> blocks = blocks_that_keep(kept, width, 256, random);
      const auto accepted = static_cast<std::uint64_t>(
          std::count_if(blocks.begin() + 1, blocks.end(), [](auto& one) { return one.accepted; }));
      const Forgetting found = forgetting(blocks, kKt);
      remembering += found.enough ? 0 : 1;
      more += static_cast<double>(first_of_true_ensemble(256, accepted, found) -
                                  first_of_true_ensemble(256, accepted, {})) /
              kChains;
    }
    EXPECT_LT(more, 5) << kept << ' ' << width;
    EXPECT_LT(remembering, kChains / 50) << kept << ' ' << width;
  }
}

/// A run asks for it now and then only, and has the same as one that asks at the end.
TEST(QmBlocks, ForgettingIsOfTheBlocksSoFar) {
  std::mt19937_64 random(7);
  const std::vector<QmBlock> blocks = blocks_that_keep(0.9, 1.5, 400, random);
  Forgetting found;
  int asked = 0;
  for (std::size_t count = 1; count <= blocks.size(); ++count) {
    const std::span<const QmBlock> so_far = std::span(blocks).first(count);
    if (blocks_of_forgetting(count) == count) {
      found = forgetting(so_far, kKt);
      ++asked;
    }
    EXPECT_EQ(found.blocks, forgetting(so_far, kKt).blocks) << count;
    EXPECT_EQ(remembers_start(so_far, kKt), !found.enough) << count;
    EXPECT_EQ(energies_of(so_far, kKt).remembers_start(), !found.enough) << count;
  }
  EXPECT_LT(asked, 70);
}

}  // namespace
}  // namespace starpmc
