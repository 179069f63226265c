#include "app/chain_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <thread>

#include "kernels/base/error.hpp"
#include "tests/app/no_engine.hpp"

namespace starpmc {
namespace {

using Spawned = std::function<void()>;
using Future = std::future<std::unique_ptr<QmEngine>>;

void run_nothing(unsigned /*index*/, Future engine) { engine.wait(); }

/// The environment may change while QM programs get ready, and not before all have a copy of it.
TEST(ChainThreads, WaitForProcessesButNotForEngines) {
  constexpr unsigned kChains = 3;
  std::atomic<unsigned> begun = 0;
  std::atomic<unsigned> spawned = 0;
  std::latch ready(1);
  std::atomic<unsigned> made = 0;
  ChainThreads threads([&](unsigned, const Spawned& tell) {
    const unsigned number = begun++;
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * number));
    ++spawned;
    tell();
    tell();  // a worker that was lost at once
    ready.wait();
    ++made;
    return nullptr;
  });
  for (unsigned i = 0; i < kChains; ++i) threads.start();
  threads.wait_for_processes();
  EXPECT_EQ(spawned, kChains);
  EXPECT_EQ(made, 0U);
  ready.count_down();
  EXPECT_FALSE(threads.first_engine().exists);
  EXPECT_TRUE(threads.wait_for_engines());
  threads.run(run_nothing);
  threads.join();
  EXPECT_EQ(made, kChains);
}

TEST(ChainThreads, DoNotWaitForProcessesThatThereAreNot) {
  ChainThreads none([](unsigned, const Spawned&) { return nullptr; });
  none.start();
  none.wait_for_processes();
  EXPECT_FALSE(none.first_engine().exists);

  ChainThreads failing(
      [](unsigned, const Spawned&) -> std::unique_ptr<QmEngine> { throw RunError("no Python"); });
  failing.start();
  failing.start();
  failing.wait_for_processes();
  EXPECT_FALSE(failing.wait_for_engines());
  EXPECT_THROW(failing.first_engine(), RunError);
}

/// Also those that start afterwards; then the chains run with the same engines.
TEST(ChainThreads, EnginesAreLentBeforeTheChainsRun) {
  std::atomic<unsigned> lent = 0;
  std::atomic<unsigned> ran = 0;
  ChainThreads threads([](unsigned, const Spawned&) { return std::make_unique<test::NoEngine>(); });
  threads.start();
  EXPECT_TRUE(threads.wait_for_engines());
  threads.lend([&](QmEngine&) { ++lent; });
  threads.start();
  EXPECT_TRUE(threads.wait_for_engines());
  EXPECT_EQ(lent, 2U);
  threads.run([&](unsigned, Future engine) { ran += engine.get() != nullptr ? 1 : 0; });
  threads.join();
  EXPECT_EQ(ran, 2U);
  EXPECT_EQ(lent, 2U);
}

/// Where there was no memory for all of a profile's next image, some start with it.
TEST(ChainThreads, EnginesThatStartWhenTheLentOnesAreBackAreNotLent) {
  std::atomic<unsigned> lent = 0;
  std::atomic<unsigned> ran = 0;
  ChainThreads threads([](unsigned, const Spawned&) { return std::make_unique<test::NoEngine>(); });
  threads.start();
  threads.lend([&](QmEngine&) { ++lent; });
  threads.take_back();
  EXPECT_EQ(lent, 1U);
  threads.start();
  EXPECT_TRUE(threads.wait_for_engines());
  threads.run([&](unsigned, Future engine) { ran += engine.get() != nullptr ? 1 : 0; });
  threads.join();
  EXPECT_EQ(ran, 2U);
  EXPECT_EQ(lent, 1U);
}

TEST(ChainThreads, WorkThatFailsIsAFailureOfTheEngine) {
  ChainThreads threads([](unsigned, const Spawned&) { return std::make_unique<test::NoEngine>(); });
  threads.start();
  threads.start();
  std::atomic<unsigned> lent = 0;
  threads.lend([&](QmEngine&) {
    if (++lent == 1) throw RunError("lost");
  });
  EXPECT_FALSE(threads.wait_for_engines());
  EXPECT_EQ(lent, 2U);
}

}  // namespace
}  // namespace starpmc
