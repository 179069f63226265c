#include "kernels/energy_exchange.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace starpmc {
namespace {

/// What the member finds in a window: numbers whose sum depends on its order.
double energy(std::size_t member, int window, std::size_t candidate) {
  const double scale = member == 1 ? 1e16 : 1.0;
  return scale * (member == 2 ? -1 : 1) + static_cast<double>(candidate) + 0.1 * window;
}

TEST(EnergyExchange, AllMembersGetTheSumsInOrder) {
  constexpr std::size_t kMembers = 3;
  constexpr std::size_t kValues = 40;
  constexpr int kWindows = 500;
  EnergyExchange exchange(kMembers, kValues);
  std::vector<int> wrong(kMembers, 0);
  {
    std::vector<std::jthread> members;
    for (std::size_t i = 0; i < kMembers; ++i) {
      members.emplace_back([&, i] {
        const TeamMember me{&exchange, i};
        for (int window = 0; window < kWindows; ++window) {
          const std::size_t count = 1 + static_cast<std::size_t>(window) % kValues;
          // A device writes where it was told to later than it was told.
          const std::span<double> own = me.own();
          if (window % 97 == 0 && i == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          for (std::size_t k = 0; k < count; ++k) own[k] = energy(i, window, k);
          me.tell();
          std::vector<double> sums(count, -1.0);
          me.sum(sums);
          for (std::size_t k = 0; k < count; ++k) {
            double sum = 0;
            for (std::size_t m = 0; m < kMembers; ++m) sum += energy(m, window, k);
            wrong[i] += sums[k] != sum;
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, std::vector<int>(kMembers, 0));
}

TEST(EnergyExchange, WorkIsTimedWithoutWaiting) {
  EnergyExchange exchange(2, 1);
  const auto windows = [&](std::size_t member, std::chrono::milliseconds work) {
    for (int window = 0; window < 5; ++window) {
      std::this_thread::sleep_for(work);
      exchange.own(member)[0] = 1;
      exchange.tell(member);
      double sum = 0;
      exchange.sum(member, {&sum, 1});
    }
  };
  {
    const std::jthread quick([&] { windows(0, std::chrono::milliseconds(1)); });
    windows(1, std::chrono::milliseconds(40));
  }
  EXPECT_GE(exchange.working_seconds(1), 0.16);  // the first window's is not known
  EXPECT_LT(exchange.working_seconds(0), exchange.working_seconds(1) / 2);
}

TEST(EnergyExchange, NobodyWaitsForAMemberThatHasFailed) {
  EnergyExchange exchange(2, 1);
  for (const std::size_t member : {0, 1}) {
    exchange.own(member)[0] = 1;
    exchange.tell(member);
  }
  double sum = 0;
  exchange.sum(0, {&sum, 1});
  EXPECT_EQ(sum, 2);
  std::jthread waits([&] {
    exchange.tell(0);
    EXPECT_THROW(exchange.sum(0, {&sum, 1}), ExchangeAbandoned);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // asleep
  exchange.abandon(1);
  waits.join();
  exchange.tell(1);  // does not take it back
  EXPECT_THROW(exchange.sum(0, {&sum, 1}), ExchangeAbandoned);
}

}  // namespace
}  // namespace starpmc
