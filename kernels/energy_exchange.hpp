#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace starpmc {

/// Another member has given up.
class ExchangeAbandoned : public std::exception {
 public:
  const char* what() const noexcept override { return "another member of the team has failed"; }
};

/// Where the members of a team, each on a thread of its own, tell each other the energies of a
/// window's candidates with their parts of the density (src/sampling/README.md, "One chain on
/// several devices"). For each window a member calls own(), tell() and sum(), in this order.
class EnergyExchange {
 public:
  /// @param values candidates that a window has at most
  EnergyExchange(std::size_t members, std::size_t values);

  /// Where the member puts its energies of its next window, kJ/mol.
  std::span<double> own(std::size_t member);
  /// They are there.
  void tell(std::size_t member);
  /// Waits for the others, and adds up all members' first energies, as many as there are sums, in
  /// order of the members: the same bits for each.
  /// @throws ExchangeAbandoned
  void sum(std::size_t member, std::span<double> sums);

  /// The member tells no more, and whoever waits for it ends. Any thread.
  void abandon(std::size_t member) noexcept;

  /// How long the member took for its windows but the first, without waiting for others.
  double working_seconds(std::size_t member) const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kAbandoned = UINT64_MAX;

  /// On cache lines of its own: others look at it again and again.
  struct alignas(64) Member {
    std::atomic<std::uint64_t> told{0};  ///< windows, or kAbandoned
    std::uint64_t windows = 0;           ///< that it has begun
    /// By turns, of one window and the next: others may still read the one's.
    std::array<std::vector<double>, 2> energies;
    Clock::time_point since{};
    std::chrono::duration<double> waited{};
    std::atomic<double> working_seconds{0};
  };

  static void wait_for(const Member& other, std::uint64_t windows);

  std::size_t count_;
  std::unique_ptr<Member[]> members_;
};

/// Who sums up the density's energies with others; by default nobody. Plain data.
struct TeamMember {
  EnergyExchange* exchange = nullptr;  ///< null: the energies are of the whole density
  std::size_t place = 0;               ///< among the members

  bool has_others() const { return exchange != nullptr; }
  std::span<double> own() const { return exchange->own(place); }
  void tell() const { exchange->tell(place); }
  void sum(std::span<double> sums) const { exchange->sum(place, sums); }
  void abandon() const noexcept { exchange->abandon(place); }
};

}  // namespace starpmc
