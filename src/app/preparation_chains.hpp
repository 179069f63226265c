#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "app/interruption.hpp"
#include "app/solvent_potential.hpp"
#include "sampling/chain.hpp"

#include <nlohmann/json_fwd.hpp>

namespace starpmc {

/// Chains that a reference is made from: always as many, so that what they sample is a function of
/// input and seed. Configurations for tests come from a chain of their own: those of one chain are
/// like each other for longer than a preparation lasts, and a width measured on neighbours of what
/// the response was made from is too small.
class PreparationChains {
 public:
  static constexpr std::size_t kChains = 4;
  /// So many of the configurations, the last ones, are the last chain's.
  static std::uint64_t held_out(std::uint64_t configurations);

  using MakeChain = std::function<std::unique_ptr<Chain>(std::uint32_t number)>;
  /// @param make   called for each, with a number that no run's chain has
  /// @param engine whose quadrature points the solvent's potential is wanted at
  PreparationChains(const MakeChain& make, const Interruption& interruption,
                    const QmEngine& engine);

  /// From here on they sample its Hamiltonian.
  void set_reference(const std::shared_ptr<const ReferenceTables>& reference);

  /// So many steps of each chain, all at once, in which step sizes are tuned.
  /// @throws Cancelled where the run is interrupted
  void relax(std::uint64_t steps, std::uint64_t tune_interval);

  /// So many from here on, `spacing` steps of their chain apart; the very first is the start.
  /// @param of_last by which quadrature those of the last chain are embedded; the others' are
  /// coarse
  /// @param take called by this thread as they come up, in no certain order, each with its number
  /// @throws Cancelled where the run is interrupted; what take() throws
  using Take = std::function<void(std::size_t number, SolventPotential)>;
  void sample(std::uint64_t configurations, std::uint64_t spacing, Quadrature of_last,
              const Take& take);

  /// Of all chains, once a reference has been set.
  nlohmann::json state();
  /// Goes on from state() with another reference: set_reference() at that point.
  /// @throws RunError when it belongs to another system
  void restore(const nlohmann::json& state,
               const std::shared_ptr<const ReferenceTables>& reference);

 private:
  struct Member {
    // They outlive the chain.
    std::optional<PotentialRecorder> coarse;
    std::optional<PotentialRecorder> fine;
    std::unique_ptr<Chain> chain;
    std::uint64_t step = 0;
  };
  /// Each chain's work in a thread of its own, until the threads are joined; the failure of one
  /// stops the others.
  void start(std::vector<std::jthread>& threads, const std::function<void(std::size_t chain)>& work,
             std::span<std::exception_ptr> errors);
  void make_steps(Member& member, std::uint64_t steps, std::uint64_t tune_interval);

  const Interruption& interruption_;
  std::array<Member, kChains> members_;
  std::atomic<bool> stopped_ = false;  ///< one of them has failed
};

}  // namespace starpmc
