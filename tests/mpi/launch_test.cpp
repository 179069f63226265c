#include "mpi/launch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "mpi/rank_message.hpp"
#include "mpi/ranks.hpp"

namespace starpmc {
namespace {

/// The launchers' variables, set as a test wants them and put back after it.
class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kNames) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }

  static constexpr const char* kNames[] = {
      "OMPI_COMM_WORLD_SIZE", "PMI_RANK",    "PMI_SIZE", "PMIX_RANK",
      "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"};
};

TEST_F(LaunchTest, Alone) {
  EXPECT_EQ(launch_of_this_process().kind, Launch::Kind::alone);
  EXPECT_EQ(join_ranks()->size(), 1U);
}

TEST_F(LaunchTest, OpenMpi) {
  set("OMPI_COMM_WORLD_SIZE", "4");
  set("PMIX_RANK", "2");
  EXPECT_EQ(launch_of_this_process().kind, Launch::Kind::mpi);
  EXPECT_EQ(launch_of_this_process().size, 4U);
}

TEST_F(LaunchTest, OneProcessNeedsNoMpi) {
  set("OMPI_COMM_WORLD_SIZE", "1");
  EXPECT_EQ(join_ranks()->size(), 1U);
}

TEST_F(LaunchTest, SrunWithPmix) {
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_PROCID", "3");
  set("PMIX_RANK", "3");
  const Launch launch = launch_of_this_process();
  EXPECT_EQ(launch.kind, Launch::Kind::mpi);
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_EQ(launch.size, 8U);
}

TEST_F(LaunchTest, SrunWithoutMpi) {
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_PROCID", "3");
  EXPECT_EQ(launch_of_this_process().kind, Launch::Kind::without_mpi);
  EXPECT_THROW(join_ranks(), std::exception);
}

/// The shell of a batch job, or of `srun --pty`.
TEST_F(LaunchTest, WithinAnAllocation) {
  set("SLURM_PROCID", "0");
  EXPECT_EQ(launch_of_this_process().kind, Launch::Kind::alone);
  set("SLURM_STEP_NUM_TASKS", "1");
  EXPECT_EQ(launch_of_this_process().kind, Launch::Kind::alone);
}

TEST_F(LaunchTest, AloneAFailureIsTheStageSOwn) {
  const auto ranks = join_ranks();
  EXPECT_THROW(agree(*ranks, [] { throw std::out_of_range("own"); }), std::out_of_range);
}

/// Ranks of a job whose others have said what they have said.
class FakeRanks final : public Ranks {
 public:
  explicit FakeRanks(std::vector<nlohmann::json> others) : others_(std::move(others)) {}
  unsigned rank() const override { return 0; }
  unsigned size() const override { return static_cast<unsigned>(others_.size()) + 1; }
  unsigned on_this_host() const override { return 1; }
  const std::vector<std::string>& hosts() const override { return hosts_; }
  std::vector<nlohmann::json> all(const nlohmann::json& mine) override {
    std::vector<nlohmann::json> documents{mine};
    documents.insert(documents.end(), others_.begin(), others_.end());
    return documents;
  }
  void send(unsigned, const nlohmann::json&) override {}
  std::optional<Message> receive() override { return std::nullopt; }
  void join_starpu() override {}
  void leave_starpu() override {}
  [[noreturn]] void abort(int status) override { std::_Exit(status); }

 private:
  std::vector<nlohmann::json> others_;
  std::vector<std::string> hosts_{"a", "b", "c"};
};

TEST(Agree, AnotherRanksFailureIsEverybodys) {
  FakeRanks ranks({nullptr, {{"message", "no such file"}, {"status", 2}}});
  bool called = false;
  try {
    agree(ranks, [&] { called = true; });
    FAIL();
  } catch (const AgreedFailure& failure) {
    EXPECT_STREQ(failure.what(), "rank 2 (c): no such file");
    EXPECT_EQ(failure.status(), 2);
  }
  EXPECT_TRUE(called);
}

TEST(Agree, TheLowestRankSpeaks) {
  FakeRanks ranks({nlohmann::json{{"message", "later"}, {"status", 2}}, nullptr});
  try {
    agree(ranks, [] { throw std::runtime_error("first"); });
    FAIL();
  } catch (const AgreedFailure& failure) {
    EXPECT_STREQ(failure.what(), "first");
    EXPECT_EQ(failure.status(), 1);
  }
}

TEST(Agree, AllWell) {
  FakeRanks ranks({nullptr, nullptr});
  EXPECT_NO_THROW(agree(ranks, [] {}));
}

TEST(OfFirst, WhatRank0FindsCounts) {
  FakeRanks ranks({nullptr, nullptr});
  EXPECT_EQ(of_first(ranks,
                     [] {
                       return nlohmann::json{1, "found"};
                     }),
            (nlohmann::json{1, "found"}));
  EXPECT_THROW(of_first(ranks, []() -> nlohmann::json { throw std::runtime_error("none"); }),
               AgreedFailure);
}

TEST(Launched, ACommandForAsManyRanks) {
  EXPECT_EQ(FakeRanks({nullptr, nullptr}).launched("starpmc resume a"),
            "mpirun -np 3 starpmc resume a");
  EXPECT_EQ(FakeRanks({}).launched("starpmc resume a"), "starpmc resume a");
}

}  // namespace
}  // namespace starpmc
