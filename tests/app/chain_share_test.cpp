#include "app/chain_share.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace starpmc {
namespace {

TEST(ChainShare, EveryChainOnceAndInOrder) {
  for (unsigned ranks = 1; ranks <= 9; ++ranks) {
    for (unsigned chains = 0; chains <= 40; ++chains) {
      unsigned next = 0;
      for (unsigned rank = 0; rank < ranks; ++rank) {
        const ChainShare share = equal_share(chains, rank, ranks);
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.count, chains / ranks);
        EXPECT_LE(share.count, chains / ranks + 1);
        next += share.count;
      }
      EXPECT_EQ(next, chains);
    }
  }
}

TEST(ChainShare, AsStated) {
  const std::vector<unsigned> counts{3, 1, 5};
  EXPECT_EQ(stated_share(counts, 0).first, 0U);
  EXPECT_EQ(stated_share(counts, 2).first, 4U);
  EXPECT_EQ(stated_share(counts, 2).count, 5U);
}

}  // namespace
}  // namespace starpmc
