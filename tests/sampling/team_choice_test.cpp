#include "sampling/team_choice.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "sampling/chain_team.hpp"

namespace starpmc {
namespace {

using Seconds = std::map<WindowWay, double>;

/// What a trial comes to where steps take so long.
WindowWay choice(bool alone_too, const Seconds& of_a_step) {
  WayTrial trial(alone_too, 1000);
  int tries = 0;
  while (!trial.done() && ++tries < 100) {
    trial.tell({1000 * of_a_step.at(trial.way()), 1000});
  }
  EXPECT_TRUE(trial.done());
  return trial.way();
}

TEST(WayTrial, TheFastestIsKept) {
  EXPECT_EQ(choice(true, {{WindowWay::alone, 1}, {WindowWay::team, 3}}), WindowWay::alone);
  EXPECT_EQ(choice(true, {{WindowWay::alone, 3}, {WindowWay::team, 1}}), WindowWay::team);
}

TEST(WayTrial, ATeamHasToBeWorthIt) {
  EXPECT_EQ(choice(true, {{WindowWay::alone, 1}, {WindowWay::team, 0.98}}), WindowWay::alone);
}

TEST(WayTrial, OneAloneIsNotTriedWhereATeamIsAskedFor) {
  EXPECT_EQ(choice(false, {{WindowWay::team, 2}}), WindowWay::team);
}

TEST(WayTrial, ADisturbanceDecidesNothing) {
  WayTrial trial(true, 1);
  bool disturbed = false;
  while (!trial.done()) {
    double seconds = trial.way() == WindowWay::alone ? 2 : 1;
    if (trial.way() == WindowWay::team && !trial.balances() && !disturbed) {
      seconds = 100;
      disturbed = true;
    }
    trial.tell({seconds, 1});
  }
  EXPECT_EQ(trial.way(), WindowWay::team);
}

TEST(WayTrial, ShortRunsOfStepsAddUp) {
  WayTrial trial(true, 1000);
  int told = 0;
  while (!trial.done() && ++told < 1000) {
    EXPECT_EQ(trial.lasts({0, trial.steps_left()}), true);
    // What the first 400 steps of each try take does not count for themselves.
    const bool late = trial.steps_left() <= 600;
    trial.tell({(trial.way() == WindowWay::alone ? 2e-5 : late ? 0 : 5e-5) * 100, 100});
  }
  EXPECT_EQ(told, 10 * 10);  // ten tries
  EXPECT_DOUBLE_EQ(trial.of(WindowWay::alone), 2e-5);
  EXPECT_DOUBLE_EQ(trial.of(WindowWay::team), 2e-5);
  EXPECT_EQ(trial.way(), WindowWay::alone);
}

TEST(WayTrial, FewStepsThatTakeLongAreEnough) {
  WayTrial trial(true, 1'000'000);
  int told = 0;
  while (!trial.done() && ++told < 100) trial.tell({trial.way() == WindowWay::alone ? 2. : 1., 10});
  EXPECT_EQ(told, 10);
  EXPECT_EQ(trial.way(), WindowWay::team);
}

TEST(Shares, AreInProportionAndNoneIsEmpty) {
  EXPECT_EQ(shares_of(10, {1, 1}), (std::vector<std::size_t>{0, 5, 10}));
  EXPECT_EQ(shares_of(10, {3, 1, 1}), (std::vector<std::size_t>{0, 6, 8, 10}));
  EXPECT_EQ(shares_of(3, {100, 1, 1}), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(shares_of(3, {1, 1, 100}), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(shares_of(2, {1, 1000}), (std::vector<std::size_t>{0, 1, 2}));
}

}  // namespace
}  // namespace starpmc
