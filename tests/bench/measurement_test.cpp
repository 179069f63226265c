#include "bench/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace starpmc {
namespace {

using testing::DoubleEq;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(TaskTimes, OperationsAreCodeletsOfAnyPrecisionAndPotential) {
  TaskTimes times;
  times.codelets["starpmc_mm_pair_mixed"] = {2, 0.5, {2}, {0.5}};
  times.codelets["starpmc_mm_pair_fp64_0123abcd"] = {1, 0.25, {0, 1}, {0, 0.25}};
  times.codelets["starpmc_mm_pair_table_mixed"] = {4, 1, {4}, {1}};
  times.codelets["starpmc_qm_update"] = {7, 9, {7}, {9}};
  std::map<std::string, double> seconds;
  for (const auto& [name, entry] : times.operations()) seconds[name] = entry.seconds;
  EXPECT_THAT(seconds, UnorderedElementsAre(Pair("mm_pair", DoubleEq(0.75)),
                                            Pair("mm_pair_table", DoubleEq(1))));
  EXPECT_THAT(times.operation("mm_pair").worker_tasks, testing::ElementsAre(2, 1));
  EXPECT_EQ(times.operation("mm").tasks, 0U);
}

TEST(Median, OfAnEvenNumberIsBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(median({4, 1, 9, 2}), 3);
  EXPECT_EQ(median({1, 2}), 1.5);
  EXPECT_EQ(median({4, 1, 9}), 4);
}

}  // namespace
}  // namespace starpmc
