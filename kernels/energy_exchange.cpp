#include "kernels/energy_exchange.hpp"

#include <algorithm>
#include <thread>

namespace starpmc {

EnergyExchange::EnergyExchange(std::size_t members, std::size_t values)
    : count_(members), members_(std::make_unique<Member[]>(members)) {
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::vector<double>& turn : members_[i].energies) turn.resize(values);
  }
}

std::span<double> EnergyExchange::own(std::size_t member) {
  Member& me = members_[member];
  return me.energies[me.windows % 2];
}

void EnergyExchange::tell(std::size_t member) {
  Member& me = members_[member];
  const Clock::time_point now = Clock::now();
  if (me.windows > 0) {
    const std::chrono::duration<double> passed = now - me.since;
    me.working_seconds = me.working_seconds + (passed - me.waited).count();
  }
  me.since = now;
  ++me.windows;
  // Not where it has been abandoned meanwhile.
  std::uint64_t before = me.windows - 1;
  me.told.compare_exchange_strong(before, me.windows, std::memory_order_release);
  me.told.notify_all();
}

void EnergyExchange::sum(std::size_t member, std::span<double> sums) {
  Member& me = members_[member];
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < count_; ++i) wait_for(members_[i], me.windows);
  me.waited = Clock::now() - begin;
  const std::size_t turn = (me.windows - 1) % 2;
  std::ranges::fill(sums, 0.0);
  for (std::size_t i = 0; i < count_; ++i) {
    const std::vector<double>& energies = members_[i].energies[turn];
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += energies[k];
  }
}

void EnergyExchange::abandon(std::size_t member) noexcept {
  members_[member].told = kAbandoned;
  members_[member].told.notify_all();
}

double EnergyExchange::working_seconds(std::size_t member) const {
  return members_[member].working_seconds;
}

void EnergyExchange::wait_for(const Member& other, std::uint64_t windows) {
  // Devices answer within some ten microseconds, which a thread that sleeps would miss.
  constexpr auto kAwake = std::chrono::microseconds(200);
  const Clock::time_point asleep_from = Clock::now() + kAwake;
  std::uint64_t told = other.told.load(std::memory_order_acquire);
  while (told < windows) {
    if (Clock::now() >= asleep_from) {
      other.told.wait(told, std::memory_order_acquire);
    } else {
      std::this_thread::yield();
    }
    told = other.told.load(std::memory_order_acquire);
  }
  if (told == kAbandoned) throw ExchangeAbandoned();
}

}  // namespace starpmc
