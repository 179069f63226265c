#include "io/background_writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <vector>

namespace starpmc {
namespace {

using namespace std::chrono_literals;

TEST(BackgroundWriter, DoesJobsInTheirOrder) {
  std::vector<int> done;
  BackgroundWriter writer(1000);
  for (int i = 0; i < 1000; ++i) writer.add(7, [&done, i] { done.push_back(i); });
  writer.wait();
  ASSERT_EQ(done.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(BackgroundWriter, WhoeverAddsDoesNotWaitForTheJobs) {
  std::promise<void> go;
  BackgroundWriter writer(1000);
  writer.add(1, [&] { go.get_future().wait(); });
  for (int i = 0; i < 900; ++i) writer.add(1, [] {});
  go.set_value();  // not reached if add() waited
  writer.wait();
}

TEST(BackgroundWriter, WhatWaitsIsBounded) {
  std::promise<void> go;
  std::atomic<int> added = 0;
  BackgroundWriter writer(1 << 20);
  writer.add(1 << 19, [wanted = go.get_future().share()] { wanted.wait(); });
  std::thread adding([&] {
    for (int i = 0; i < 20; ++i) {
      writer.add(1 << 17, [] {});
      ++added;
    }
  });
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(added, 4);  // with the first a mebibyte
  go.set_value();
  adding.join();
  writer.wait();
  EXPECT_EQ(added, 20);
}

TEST(BackgroundWriter, AJobLargerThanTheBoundComesAlone) {
  BackgroundWriter writer(10);
  int done = 0;
  for (int i = 0; i < 3; ++i) writer.add(1000, [&] { ++done; });
  writer.wait();
  EXPECT_EQ(done, 3);
}

/// Small ones may lie for a second, but not while somebody waits for their room.
TEST(BackgroundWriter, RoomIsMadeAtOnce) {
  constexpr int kJobs = 20;
  BackgroundWriter writer(10);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kJobs; ++i) writer.add(10, [] {});
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);  // 19 s where each lies
}

TEST(BackgroundWriter, AfterAFailureNothingIsDoneAndEverybodyIsTold) {
  BackgroundWriter writer(1000);
  std::vector<int> done;
  writer.add(1, [&] { done.push_back(1); });
  writer.add(1, [] { throw std::runtime_error("the disk is full"); });
  writer.add(1, [&] { done.push_back(3); });
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { writer.wait(); }), "the disk is full");
  EXPECT_EQ(message([&] { writer.add(1, [&] { done.push_back(4); }); }), "the disk is full");
  EXPECT_EQ(message([&] { writer.wait(); }), "the disk is full");
  EXPECT_EQ(done, std::vector<int>{1});
}

TEST(BackgroundWriter, WhoeverWaitsForRoomIsToldOfAFailure) {
  std::promise<void> go;
  BackgroundWriter writer(100);
  writer.add(100, [&] {
    go.get_future().wait();
    throw std::runtime_error("the disk is full");
  });
  std::future<void> adding = std::async(std::launch::async, [&] { writer.add(50, [] {}); });
  EXPECT_EQ(adding.wait_for(50ms), std::future_status::timeout);
  go.set_value();
  EXPECT_THROW(adding.get(), std::runtime_error);
}

TEST(BackgroundWriter, DoesSmallJobsWithinSecondsAndThenTellsThatItIsIdle) {
  std::promise<void> done;
  std::promise<void> idle;
  BackgroundWriter writer(1000, [&] { idle.set_value(); });
  writer.add(1, [&] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(20s), std::future_status::ready);
  EXPECT_EQ(idle.get_future().wait_for(20s), std::future_status::ready);
}

TEST(BackgroundWriter, ItsEndDoesWhatIsWaiting) {
  int done = 0;
  {
    BackgroundWriter writer(1000);
    for (int i = 0; i < 5; ++i) writer.add(1, [&] { ++done; });
  }
  EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace starpmc
