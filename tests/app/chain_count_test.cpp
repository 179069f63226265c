#include "app/chain_count.hpp"

#include <gtest/gtest.h>

namespace starpmc {
namespace {

TEST(ChainCount, OnePerCoreThatWaitsForAQmWorker) {
  EXPECT_EQ(automatic_chains(16, 1, 1500, 1e6), 16U);
  EXPECT_EQ(automatic_chains(2, 0, 1500, 1e6), 2U);
}

TEST(ChainCount, MemoryIsTheLimit) {
  // The first worker has its memory already; four fifths of 10,000 MB hold five more.
  EXPECT_EQ(automatic_chains(16, 0, 1500, 10000), 6U);
  EXPECT_EQ(automatic_chains(16, 0, 1500, 1000), 1U);
  EXPECT_EQ(automatic_chains(16, 0, 1500, 0), 1U);
}

TEST(ChainCount, PureSamplingKeepsDevicesBusy) {
  EXPECT_EQ(automatic_chains(15, 1, 0, 1e6), 4U);
  EXPECT_EQ(automatic_chains(14, 2, 0, 1e6), 8U);
  EXPECT_EQ(automatic_chains(2, 0, 0, 1e6), 2U);
  EXPECT_EQ(automatic_chains(0, 0, 0, 1e6), 1U);
}

}  // namespace
}  // namespace starpmc
