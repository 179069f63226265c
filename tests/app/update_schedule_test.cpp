#include "app/update_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace starpmc {
namespace {

constexpr double kKelvin = 298.15;
constexpr double kKt = 2.479;  // kJ/mol

/// The updates up to `last`, whose jumps are a function of the interval before them.
std::vector<QmUpdateRecord> updates_until(const UpdateSchedule& schedule, std::uint64_t last,
                                          const std::function<double(double)>& jump) {
  std::vector<QmUpdateRecord> updates;
  for (std::uint64_t step = 0; step <= last; step = schedule.next(updates)) {
    const double interval = updates.empty() ? 0 : static_cast<double>(step - updates.back().step);
    updates.push_back({.step = step, .jump_kj_per_mol = updates.empty() ? 0 : jump(interval)});
  }
  return updates;
}

TEST(UpdateSchedule, AFixedIntervalHasItsMultiples) {
  const UpdateSchedule schedule(300, 1000, kKelvin);
  EXPECT_FALSE(schedule.automatic());
  const auto updates = updates_until(schedule, 2000, [](double) { return -100; });
  ASSERT_EQ(updates.size(), 7U);
  for (std::size_t i = 0; i < updates.size(); ++i) EXPECT_EQ(updates[i].step, 300 * i);
}

TEST(UpdateSchedule, FindsTheIntervalOfJumpsNearHalfOfKt) {
  // Jumps as of chorismate's updates: -0.44 kJ/mol after 300 steps, -4.3 after 10,000.
  for (const double strength : {0.1, 0.3, 1.0, 3.0}) {
    const auto jump = [&](double interval) { return -strength * 0.011 * std::pow(interval, 0.65); };
    const UpdateSchedule schedule(0, 400000, kKelvin);
    const auto updates = updates_until(schedule, 1000000, jump);
    const double found = static_cast<double>(schedule.interval(updates));
    EXPECT_GE(-jump(found), kKt / 4) << found;
    EXPECT_LE(-jump(found), kKt) << found;
  }
}

TEST(UpdateSchedule, IsFrozenInProductionWhichBeginsWithAnUpdate) {
  constexpr std::uint64_t equilibration = 100000;
  const UpdateSchedule schedule(0, equilibration, kKelvin);
  int number = 0;
  const auto updates =
      updates_until(schedule, 300000, [&](double) { return ++number % 3 == 0 ? -9.0 : -0.1; });
  std::size_t first = 0;
  while (updates[first].step < equilibration) ++first;
  EXPECT_EQ(updates[first].step, equilibration);
  const std::uint64_t interval = schedule.interval(updates);
  for (std::size_t i = first + 1; i < updates.size(); ++i) {
    EXPECT_EQ(updates[i].step - updates[i - 1].step, interval);
  }
}

TEST(UpdateSchedule, StaysWithinItsBounds) {
  const UpdateSchedule schedule(0, 3000000, kKelvin);
  const auto none = updates_until(schedule, 3000000, [](double) { return 0; });
  EXPECT_LE(schedule.interval(none), 64000U);
  EXPECT_GE(schedule.interval(none), 32000U);
  const auto large = updates_until(schedule, 3000000, [](double) { return -50; });
  EXPECT_EQ(schedule.interval(large), 250U);
}

TEST(UpdateSchedule, TheEndOfEquilibrationMayComeLater) {
  const auto jump = [](double interval) { return -0.011 * std::pow(interval, 0.65); };
  UpdateSchedule schedule(0, std::nullopt, kKelvin);
  auto updates = updates_until(schedule, 200000, jump);
  EXPECT_EQ(updates[1].step, 1000U);
  const std::uint64_t last = updates.back().step;
  const std::uint64_t end = last + (schedule.next(updates) - last) / 2;
  schedule.set_equilibration(end);
  EXPECT_EQ(schedule.next(updates), end);
  updates.push_back({.step = end, .jump_kj_per_mol = -1});
  const std::uint64_t interval = schedule.interval(updates);
  EXPECT_LE(-jump(static_cast<double>(interval)), kKt);
  EXPECT_EQ(schedule.next(updates), end + interval);
  // A resumed chain is told the end at once, and finds the same.
  UpdateSchedule resumed(0, std::nullopt, kKelvin);
  resumed.set_equilibration(end);
  EXPECT_EQ(resumed.interval(updates), interval);
}

TEST(UpdateSchedule, TooShortAnEquilibrationKeepsTheFirstInterval) {
  const UpdateSchedule schedule(0, 100, kKelvin);
  const auto updates = updates_until(schedule, 2000, [](double) { return -50; });
  EXPECT_EQ(updates[1].step, 100U);
  EXPECT_EQ(updates[2].step, 350U);
}

}  // namespace
}  // namespace starpmc
