#include "app/stopping_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

namespace starpmc {
namespace {

ChainStatistics noise(unsigned seed, std::size_t samples) {
  std::mt19937 draw(seed);
  std::normal_distribution<double> normal;
  ChainStatistics statistics;
  for (std::size_t i = 0; i < samples; ++i) statistics.add(normal(draw));
  return statistics;
}

/// Two gates that tell each other, as those of two ranks do.
struct TwoRanks {
  explicit TwoRanks(double error) : gates{{error, kNever}, {error, kNever}} {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      StoppingGate& other = gates[1 - rank];
      gates[rank].set_chains(2);
      gates[rank].set_listener(
          {[&other](std::size_t chain, std::uint64_t step, const ChainStatistics& energies) {
             ChainStatistics received;  // as it is after its way through a message
             received.restore(nlohmann::json::from_cbor(nlohmann::json::to_cbor(energies.state())));
             other.add_arrival(chain, step, received);
           },
           [&other](std::size_t chain, std::uint64_t step) { other.set_passed(chain, step); },
           [&other](std::size_t chain, std::uint64_t step, const ChainStatistics& energies) {
             other.set_finished(chain, step, energies);
           }});
    }
  }
  static bool kNever() { return false; }
  StoppingGate gates[2];
};

TEST(StoppingGateOfRanks, RanksDecideAlike) {
  for (const auto& [error, expected] :
       {std::pair{0.5, StoppingGate::Answer::known}, {1e-3, StoppingGate::Answer::go_on}}) {
    TwoRanks ranks(error);
    StoppingGate::Answer other{};
    std::thread second([&] { other = ranks.gates[1].arrive(1, 100, noise(2, 5000)); });
    const auto first = ranks.gates[0].arrive(0, 100, noise(1, 5000));
    second.join();
    EXPECT_EQ(first, expected);
    EXPECT_EQ(other, expected);
  }
}

/// Chain 1 was stopped after this gate, chain 0 before it: chain 0 must not wait for ever.
TEST(StoppingGateOfRanks, AResumedChainOfAnotherRankLetsPass) {
  TwoRanks ranks(0.5);
  ranks.gates[1].chain_resumed(1, 200);
  EXPECT_EQ(ranks.gates[0].arrive(0, 100, noise(1, 5000)), StoppingGate::Answer::go_on);
  EXPECT_EQ(ranks.gates[0].arrive(0, 200, noise(1, 9000)), StoppingGate::Answer::go_on);
}

TEST(StoppingGateOfRanks, AFinishedChainOfAnotherRankIsPresent) {
  TwoRanks ranks(0.5);
  ranks.gates[1].chain_finished(1, 5, noise(2, 5000));
  EXPECT_EQ(ranks.gates[0].arrive(0, 7, noise(1, 5000)), StoppingGate::Answer::known);
}

TEST(StoppingGateOfRanks, AChainOfAnotherRankThatRemembersItsStartIsNotKnown) {
  TwoRanks ranks(0.5);
  ChainStatistics remembering = noise(2, 5000);
  remembering.set_remembers_start(true);
  ranks.gates[1].chain_finished(1, 5, remembering);
  EXPECT_EQ(ranks.gates[0].arrive(0, 7, noise(1, 5000)), StoppingGate::Answer::go_on);
}

TEST(StoppingGateOfRanks, GivesUp) {
  std::atomic<bool> stop = false;
  StoppingGate gate(0.5, [&] { return stop.load(); });
  gate.set_chains(2);
  StoppingGate::Answer answer{};
  std::thread waiting([&] { answer = gate.arrive(0, 100, noise(1, 100)); });
  stop = true;
  waiting.join();
  EXPECT_EQ(answer, StoppingGate::Answer::given_up);
}

}  // namespace
}  // namespace starpmc
