#include "app/engine_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/base/error.hpp"
#include "runtime/codelet.hpp"
#include "tests/app/no_engine.hpp"
#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc {
namespace {

using namespace std::chrono_literals;

using test::NoEngine;

/// Threads that wait for ever cannot be joined.
template <class Result>
void exit_unless_ready(const std::future<Result>& result, const char* what) {
  if (result.wait_for(100s) == std::future_status::ready) return;
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(1);
}

using EngineTeamTest = test::StartedWorkers;

/// Pieces so short that one ends while the next is handed out, and the batch while the last is.
TEST_F(EngineTeamTest, ThousandsOfShortBatchesEnd) {
  constexpr int kBatches = 3000;
  auto all = std::async(std::launch::async, [] {
    EngineTeam team;
    NoEngine own;
    team.start(1, [] { return std::make_unique<NoEngine>(); });
    for (int batch = 0; batch < kBatches; ++batch) {
      const auto pieces = static_cast<std::size_t>(1 + batch % 3);
      std::atomic<std::size_t> done = 0;
      const auto took_part =
          team.run(own, {pieces, 1, {}, [&](QmEngine&, std::size_t) { ++done; }}, {});
      if (done != pieces || took_part < 1 || took_part > 2) return batch;
    }
    return kBatches;
  });
  exit_unless_ready(all, "a batch does not end");
  EXPECT_EQ(all.get(), kBatches);
}

/// A chain's, say. Its pieces are not worked on, and must not be waited for either.
TEST_F(EngineTeamTest, EndsWhereATaskOfOthersHasFailed) {
  auto failing = std::async(std::launch::async, [] {
    EngineTeam team;
    NoEngine own;
    std::atomic<int> done = 0;
    codelets::report_failure("a device is at fault");
    EXPECT_THROW(team.run(own, {3, 1, {}, [&](QmEngine&, std::size_t) { ++done; }}, {}), RunError);
    EXPECT_EQ(done, 0);
  });
  exit_unless_ready(failing, "a batch waits for pieces that nobody does");
  failing.get();
  codelets::clear_failure();
}

TEST_F(EngineTeamTest, AFailureIsToldOnceAndTheTeamGoesOn) {
  EngineTeam team;
  NoEngine own;
  const EngineTeam::Work fails{20, 1, {}, [](QmEngine&, std::size_t piece) {
                                 if (piece == 3) throw std::runtime_error("piece 3");
                               }};
  EXPECT_THROW(team.run(own, fails, {}), std::runtime_error);
  std::atomic<int> done = 0;
  team.run(own, {7, 1, {}, [&](QmEngine&, std::size_t) { ++done; }}, {});
  EXPECT_EQ(done, 7);
}

/// Each of the other engines loses its worker for good in its second piece.
TEST_F(EngineTeamTest, AnotherDoesWhatALostEngineHadBegun) {
  constexpr std::size_t kPieces = 40;
  constexpr unsigned kHelpers = 3;
  auto all = std::async(std::launch::async, [] {
    EngineTeam team;
    NoEngine own;
    std::atomic<unsigned> started = 0;
    team.start(kHelpers, [&] {
      ++started;
      return std::make_unique<NoEngine>();
    });
    while (started < kHelpers) std::this_thread::sleep_for(1ms);
    std::mutex mutex;
    std::condition_variable lost;
    std::map<QmEngine*, int> begun;
    std::vector<int> done(kPieces);
    unsigned left = kHelpers;
    const auto piece = [&](QmEngine& engine, std::size_t number) {
      std::unique_lock lock(mutex);
      ++begun[&engine];
      if (&engine == &own) {
        // On a busy machine it might do all pieces before another one begins its second.
        lost.wait_for(lock, 5s, [&] { return left == 0; });
      } else if (begun[&engine] == 2) {
        --left;
        lost.notify_all();
        throw WorkersLost("gone for good");
      }
      ++done[number];
    };
    team.run(own, {kPieces, 1, {}, piece}, {});
    EXPECT_EQ(done, std::vector<int>(kPieces, 1));
    EXPECT_EQ(begun.size(), 1 + kHelpers);
    for (const auto& [engine, pieces] : begun) {
      EXPECT_TRUE(engine == &own || pieces == 2) << pieces;
    }
    // Nor has the team any use for them later.
    team.run(own, {5, 1, {}, piece}, {});
    EXPECT_EQ(begun[&own], kPieces - kHelpers + 5);
  });
  exit_unless_ready(all, "a batch does not end without its lost engines");
  all.get();
}

TEST_F(EngineTeamTest, TheCallersOwnEngineIsNotSpared) {
  EngineTeam team;
  NoEngine own;
  const EngineTeam::Work lost{
      3, 1, {}, [](QmEngine&, std::size_t) { throw WorkersLost("gone for good"); }};
  EXPECT_THROW(team.run(own, lost, {}), WorkersLost);
}

/// It is at something else.
TEST_F(EngineTeamTest, OthersDoABatchWithoutTheCallersOwnEngine) {
  EngineTeam team;
  NoEngine own;
  EXPECT_EQ(team.helpers(own), 0U);
  NoEngine lent;
  const EngineTeam::Loan loan(team, lent);
  EXPECT_EQ(team.helpers(own), 1U);
  EXPECT_EQ(team.helpers(lent), 0U);
  int prepared = 0;
  int done = 0;
  const EngineTeam::Work work{0, 1, [&](QmEngine&) { ++prepared; },
                              [&](QmEngine& engine, std::size_t piece) {
                                EXPECT_EQ(&engine, &lent);
                                if (piece == 7) throw WorkersLost("gone for good");
                                ++done;
                              }};
  auto all = std::async(std::launch::async, [&] {
    EngineTeam::Batch batch(team, nullptr, work);
    for (int piece = 0; piece < 5; ++piece) batch.add();
    EXPECT_TRUE(batch.wait());
    EXPECT_EQ(done, 5);
    batch.add();
    EXPECT_TRUE(batch.wait());
    EXPECT_EQ(batch.engines(), 1U);
    for (int piece = 0; piece < 3; ++piece) batch.add();
    EXPECT_FALSE(batch.wait()) << "it was done by an engine that is lost";
  });
  exit_unless_ready(all, "a batch waits for an engine that is lost");
  all.get();
  EXPECT_EQ(done, 7);
  EXPECT_EQ(prepared, 1) << "it stays prepared from piece to piece";
  EXPECT_EQ(team.helpers(own), 0U);
  auto none = std::async(std::launch::async, [&] {
    EngineTeam::Batch batch(team, nullptr, work);
    for (int piece = 0; piece < 100; ++piece) batch.add();
    EXPECT_FALSE(batch.wait());
  });
  exit_unless_ready(none, "a batch without an engine does not end");
  none.get();
}

/// Whose process takes its time to end: as long as another's does not end, too.
class SlowToEnd : public NoEngine {
 public:
  explicit SlowToEnd(std::latch& all) : all_(all) {}
  ~SlowToEnd() override { all_.arrive_and_wait(); }

 private:
  std::latch& all_;
};

TEST_F(EngineTeamTest, EnginesEndBesideEachOther) {
  constexpr unsigned kEngines = 3;
  std::latch ending(kEngines);
  auto dismissed = std::async(std::launch::async, [&] {
    EngineTeam team;
    std::atomic<unsigned> started = 0;
    team.start(kEngines, [&] {
      ++started;
      return std::make_unique<SlowToEnd>(ending);
    });
    while (started < kEngines) std::this_thread::sleep_for(1ms);
    team.dismiss();
  });
  exit_unless_ready(dismissed, "one engine's end waits for another's");
  dismissed.get();
  EXPECT_TRUE(ending.try_wait());
}

}  // namespace
}  // namespace starpmc
