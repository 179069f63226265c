#include "app/progress_board.hpp"

#include <gtest/gtest.h>

namespace starpmc {
namespace {

TEST(ProgressBoard, AddsUpChains) {
  ProgressState a;
  a.step = 100;
  a.total_steps = 1000;
  a.acceptance = 0.5;
  a.qm_update = 1;
  a.qm_updates = 10;
  a.phase = "production";
  ProgressState b = a;
  b.step = 300;
  b.acceptance = 0.3;
  const ProgressState all = ProgressBoard::merged({a, b});
  EXPECT_EQ(all.step, 400U);
  EXPECT_EQ(all.total_steps, 2000U);
  EXPECT_DOUBLE_EQ(all.acceptance, 0.35);
  EXPECT_EQ(all.qm_update, 2U);
  EXPECT_EQ(all.qm_updates, 20U);
  EXPECT_EQ(all.phase, "production");
}

TEST(ProgressBoard, TellsWhereChainsDiffer) {
  ProgressState a;
  a.phase = "QM update";
  ProgressState b;
  b.phase = "production";
  EXPECT_EQ(ProgressBoard::merged({a, b, a}).phase, "QM update (2 of 3)");
  EXPECT_EQ(ProgressBoard::merged({}).step, 0U);
}

}  // namespace
}  // namespace starpmc
