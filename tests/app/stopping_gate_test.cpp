#include "app/stopping_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <vector>

namespace starpmc {
namespace {

using Answer = StoppingGate::Answer;

/// Independent samples, whose mean is known to about 1 / sqrt(count).
ChainStatistics samples(unsigned seed, int count) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  ChainStatistics statistics(static_cast<std::uint64_t>(count));
  for (int i = 0; i < count; ++i) statistics.add(normal(random));
  return statistics;
}

class Gate : public testing::Test {
 protected:
  StoppingGate gate_{0.05, [this] { return given_up_.load(); }};
  std::atomic<bool> given_up_{false};

  std::future<Answer> arrive(std::size_t chain, std::uint64_t step, int count) {
    return std::async(std::launch::async, [=, this] {
      return gate_.arrive(chain, step, samples(static_cast<unsigned>(chain) + 1, count));
    });
  }
  static bool waits(std::future<Answer>& answer) {
    return answer.wait_for(std::chrono::milliseconds(150)) == std::future_status::timeout;
  }
};

TEST_F(Gate, AllWaitForAllAndGetOneAnswer) {
  gate_.set_chains(2);
  auto first = arrive(0, 100, 50);
  EXPECT_TRUE(waits(first));
  auto second = arrive(1, 100, 50);
  EXPECT_EQ(first.get(), Answer::go_on);
  EXPECT_EQ(second.get(), Answer::go_on);
  first = arrive(1, 200, 20000);
  EXPECT_TRUE(waits(first));
  second = arrive(0, 200, 20000);
  EXPECT_EQ(first.get(), Answer::known);
  EXPECT_EQ(second.get(), Answer::known);
}

/// Eight chains whose mean is known to within the error, but is that of a system that relaxes.
TEST_F(Gate, DoesNotStopARunThatIsEquilibratedLate) {
  constexpr std::size_t chains = 8;
  const auto of_chains = [](int relaxation) {
    std::vector<ChainStatistics> all(chains);
    for (std::size_t chain = 0; chain < chains; ++chain) {
      std::mt19937_64 random(chain + 1);
      std::normal_distribution<double> normal;
      for (int i = 0; i < 20000; ++i) {
        all[chain].add(normal(random) + (i < relaxation ? 0.1 : 0));
      }
    }
    return all;
  };
  const auto relaxing = of_chains(7000);
  const auto stationary = of_chains(0);
  EXPECT_TRUE(converged(ensemble_of(relaxing), 0.05));
  gate_.set_chains(chains);
  for (std::size_t chain = 0; chain + 1 < chains; ++chain) {
    gate_.add_arrival(chain, 100, relaxing[chain]);
    gate_.add_arrival(chain, 200, stationary[chain]);
  }
  EXPECT_EQ(gate_.arrive(chains - 1, 100, relaxing.back()), Answer::go_on);
  EXPECT_EQ(gate_.arrive(chains - 1, 200, stationary.back()), Answer::known);
}

/// Of two chains one has not forgotten the sampled ensemble that its production began in.
TEST_F(Gate, DoesNotStopARunWhoseChainsRememberTheirStart) {
  gate_.set_chains(2);
  ChainStatistics remembering = samples(1, 20000);
  remembering.set_remembers_start(true);
  gate_.add_arrival(0, 100, remembering);
  gate_.add_arrival(0, 200, samples(1, 20000));
  EXPECT_EQ(gate_.arrive(1, 100, samples(2, 20000)), Answer::go_on);
  EXPECT_EQ(gate_.arrive(1, 200, samples(2, 20000)), Answer::known);
}

TEST_F(Gate, WaitsUntilTheNumberOfChainsIsKnown) {
  auto first = arrive(0, 100, 50);
  EXPECT_TRUE(waits(first));
  gate_.set_chains(1);
  EXPECT_EQ(first.get(), Answer::go_on);
}

TEST_F(Gate, AResumedChainFollowsThoseThatWentOn) {
  gate_.set_passed(1, 300);
  gate_.set_chains(2);
  // Enough samples to end the run; but chain 1 went on from here before.
  EXPECT_EQ(arrive(0, 200, 20000).get(), Answer::go_on);
}

/// Chains with blocks of different lengths have different numbers of gates.
TEST_F(Gate, NobodyWaitsForAChainThatHasMadeAllItsSteps) {
  gate_.set_chains(2);
  auto first = arrive(0, 19, 50);
  gate_.chain_finished(1, 19, samples(2, 50));
  EXPECT_EQ(first.get(), Answer::go_on);
  EXPECT_EQ(arrive(0, 20, 50).get(), Answer::go_on);
  // It counts with the energies that it ended with.
  EXPECT_EQ(arrive(0, 21, 20000).get(), Answer::go_on);
  gate_.chain_finished(1, 22, samples(2, 20000));
  EXPECT_EQ(arrive(0, 22, 20000).get(), Answer::known);
}

TEST_F(Gate, AChainThatFinishesLaterIsWaitedForBefore) {
  gate_.set_chains(2);
  auto first = arrive(0, 18, 50);
  gate_.chain_finished(1, 19, samples(2, 50));
  EXPECT_TRUE(waits(first));
  EXPECT_EQ(arrive(1, 18, 50).get(), Answer::go_on);
  EXPECT_EQ(first.get(), Answer::go_on);
}

TEST_F(Gate, ARunThatEndsOtherwiseWaitsForNobody) {
  gate_.set_chains(2);
  auto first = arrive(0, 100, 50);
  EXPECT_TRUE(waits(first));
  given_up_ = true;
  EXPECT_EQ(first.get(), Answer::given_up);
}

}  // namespace
}  // namespace starpmc
