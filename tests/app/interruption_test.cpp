#include "app/interruption.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace starpmc {
namespace {

bool within_a_second(const std::function<bool()>& condition) {
  for (int i = 0; i < 100 && !condition(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

TEST(Interruption, ASignalIsAWish) {
  Interruption interruption;
  std::atomic<int> called{0};
  interruption.on_request([&] { ++called; });
  EXPECT_FALSE(interruption.requested());
  ASSERT_EQ(kill(getpid(), SIGTERM), 0);
  EXPECT_TRUE(within_a_second([&] { return called == 1; }));
  EXPECT_TRUE(interruption.requested());
  EXPECT_EQ(interruption.signal(), SIGTERM);
  interruption.on_request([&] { ++called; });
  EXPECT_EQ(called, 2) << "who comes late is told at once";
}

TEST(Interruption, AClosedTerminalIsAWish) {
  Interruption interruption;
  ASSERT_EQ(kill(getpid(), SIGHUP), 0);
  EXPECT_TRUE(within_a_second([&] { return interruption.requested(); }));
  EXPECT_EQ(interruption.signal(), SIGHUP);
}

TEST(Interruption, UnderNohupAClosedTerminalIsNone) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    Interruption interruption;
    ASSERT_EQ(kill(getpid(), SIGHUP), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_FALSE(interruption.requested());
  }
  std::signal(SIGHUP, before);
}

TEST(Interruption, AnotherReasonIsNoSignal) {
  Interruption interruption;
  interruption.request();
  interruption.request();
  EXPECT_TRUE(interruption.requested());
  EXPECT_EQ(interruption.signal(), 0);
}

TEST(InterruptionDeathTest, TheSecondSignalEndsAtOnce) {
  EXPECT_EXIT(
      {
        Interruption interruption;
        kill(getpid(), SIGINT);
        within_a_second([&] { return interruption.requested(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        kill(getpid(), SIGINT);
        within_a_second([] { return false; });
      },
      testing::ExitedWithCode(128 + SIGINT), "last checkpoints are whole");
}

TEST(Interruption, ASignalThatComesTwiceIsOneWish) {
  Interruption interruption;
  for (const int signal : {SIGTERM, SIGTERM, SIGINT}) {
    ASSERT_EQ(kill(getpid(), signal), 0);
    EXPECT_TRUE(within_a_second([&] { return interruption.requested(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  EXPECT_EQ(interruption.signal(), SIGTERM);
}

}  // namespace
}  // namespace starpmc
