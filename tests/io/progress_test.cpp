#include "io/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace starpmc {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// A clock that is moved by hand and a sink that keeps what it is given.
class ProgressTest : public testing::Test {
 protected:
  Progress make(Progress::Form form) {
    return Progress({.form = form,
                     .write = [this](std::string_view text) { written_.emplace_back(text); },
                     .width = [this] { return width_; },
                     .now = [this] { return now_; }});
  }
  static ProgressState state(std::uint64_t step) {
    return {.step = step,
            .total_steps = 1000,
            .acceptance = 0.4321,
            .qm_update = 2,
            .qm_updates = 5,
            .phase = "production"};
  }

  std::size_t width_ = 100;
  Progress::Clock::time_point now_{};
  std::vector<std::string> written_;
};

TEST_F(ProgressTest, TerminalLineTellsEverything) {
  Progress progress = make(Progress::Form::terminal);
  progress.update(state(0));
  now_ += milliseconds(10000);
  progress.update(state(250));
  ASSERT_EQ(written_.size(), 2U);
  EXPECT_EQ(
      written_.back(),
      "\r 25.0 %  ETA 30 s  production  step 250/1000  25 steps/s  acceptance 0.432  QM 2/5\033[K");
  progress.finish();
  EXPECT_EQ(written_.back(), "\n");
}

TEST_F(ProgressTest, TerminalIsNotWrittenMoreOftenThanFiveTimesASecond) {
  Progress progress = make(Progress::Form::terminal);
  for (std::uint64_t step = 0; step <= 1000; ++step) {
    progress.update(state(step));
    now_ += milliseconds(1);
  }
  EXPECT_EQ(written_.size(), 6U);  // at 0, 200, ... 1000 ms
}

TEST_F(ProgressTest, NarrowTerminalIsNeverWrapped) {
  Progress progress = make(Progress::Form::terminal);
  width_ = 30;
  progress.update(state(0));
  now_ += milliseconds(500);
  progress.update(state(500));
  for (const std::string& line : written_)
    EXPECT_LE(line.size() - std::string("\r\033[K").size(), 29U);
}

TEST_F(ProgressTest, LogGetsALineEveryTenSeconds) {
  Progress progress = make(Progress::Form::text);
  for (std::uint64_t second = 0; second <= 25; ++second) {
    progress.update(state(second * 10));
    now_ += milliseconds(1000);
  }
  ASSERT_EQ(written_.size(), 2U);
  EXPECT_THAT(written_[0], HasSubstr("10 steps/s"));
  EXPECT_THAT(written_[0], testing::Not(HasSubstr("\r")));
  progress.finish();
  EXPECT_EQ(written_.size(), 3U);
}

TEST_F(ProgressTest, JsonTellsEverythingFiveTimesASecond) {
  Progress progress = make(Progress::Form::json_lines);
  ProgressState first = state(0);
  first.acceptance = std::numeric_limits<double>::quiet_NaN();
  progress.update(first);
  for (std::uint64_t step = 1; step <= 1000; ++step) {
    now_ += milliseconds(1);
    progress.update(state(step));
  }
  ASSERT_EQ(written_.size(), 6U);
  const nlohmann::json begun = nlohmann::json::parse(written_[0]).at("progress");
  for (const char* name : {"acceptance", "steps_per_second", "remaining_seconds"})
    EXPECT_TRUE(begun.at(name).is_null()) << name;
  const nlohmann::json expected = {
      {"phase", "production"},   {"unit", "step"}, {"step", 200},     {"total_steps", 1000},
      {"acceptance", 0.4321},    {"qm_update", 2}, {"qm_updates", 5}, {"steps_per_second", 1000.0},
      {"remaining_seconds", 0.8}};
  EXPECT_EQ(nlohmann::json::parse(written_[1]).at("progress"), expected);
  progress.finish();
  EXPECT_EQ(nlohmann::json::parse(written_.back()).at("progress").at("step"), 1000);
}

TEST_F(ProgressTest, ARunThatGoesOnCountsItsOwnStepsOnly) {
  Progress progress = make(Progress::Form::terminal);
  progress.update(state(800));
  now_ += milliseconds(1000);
  progress.update(state(900));
  EXPECT_THAT(written_.back(), HasSubstr("100 steps/s"));
  EXPECT_THAT(written_.back(), HasSubstr("ETA 1 s"));
}

TEST_F(ProgressTest, NothingStartedNothingFinished) {
  make(Progress::Form::terminal).finish();
  EXPECT_TRUE(written_.empty());
}

TEST(ProgressLine, UnfinishedNeverReadsHundred) {
  ProgressState state;
  state.step = 99999;
  state.total_steps = 100000;
  EXPECT_THAT(Progress::line(state, -1, -1, 80), testing::StartsWith(" 99.9 %"));
}

TEST(FormatDuration, InWords) {
  EXPECT_EQ(format_duration(0.4), "0 s");
  EXPECT_EQ(format_duration(59), "59 s");
  EXPECT_EQ(format_duration(200), "3 min 20 s");
  EXPECT_EQ(format_duration(7500), "2 h 05 min");
  EXPECT_EQ(format_duration(3 * 86400 + 4 * 3600), "3 d 04 h");
  EXPECT_EQ(format_duration(-1), "0 s");
}

}  // namespace
}  // namespace starpmc
