#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampling/chain.hpp"
#include "sampling/topology_buffers.hpp"
#include "system/system.hpp"

namespace starpmc {

/// Steps [begin, end) of a block, in which either all molecules are moved or those near the solute.
struct NearPhase {
  std::uint64_t begin;
  std::uint64_t end;
  bool near;
};

/// The phase that step `at` of a block belongs to. A block's phases are the same forwards and
/// backwards, so that a block as a whole keeps detailed balance as its phases do.
/// @param share of the block's steps that are near the solute
NearPhase near_phase(std::uint64_t block_steps, std::uint64_t at, double share);

/// Which molecules a chain moves near the solute (README.md, "Near the solute"): those whose centre
/// is in a sphere about it as a phase begins. Moves out of the sphere count as rejected, so the
/// same ones are in it as the phase ends. They are moved in turn, in an order drawn for the phase:
/// it reads backwards as one of another order, as probable, and each phase keeps detailed balance.
class NearMoves {
 public:
  NearMoves(const System& system, const Settings& settings, std::uint32_t chain);

  /// Whether all steps move all molecules, whatever begin() is given.
  bool none() const { return share_ == 0; }

  /// Steps [.., end) from `step` on that are made alike, and whether the chain's state has been
  /// changed for them. None of the chain's tasks is under way.
  struct Steps {
    std::uint64_t end;
    bool changed;
  };
  /// @param lattice as kernels/common/layout.h has it
  /// @param chain_state the same, with a place for each molecule
  Steps begin(const ChainSegment& segment, std::uint64_t step, const TopologyBuffers& topology,
              std::span<const double> lattice, std::span<double> chain_state);

 private:
  /// @param step the phase's first
  void confine(std::uint64_t step, const TopologyBuffers& topology, std::span<const double> lattice,
               std::span<double> chain_state);
  /// Once.
  void warn_of_emptiness();

  std::uint64_t seed_;
  std::uint32_t chain_;
  double share_;
  Vector3 centre_;
  double radius_angstrom_;
  double shell_angstrom_;
  bool warned_ = false;
};

/// Brings the numbers of molecules into the order in which the steps of the phase that begins with
/// `step` move them, a pure function of (seed, chain, step): each order is as probable.
void shuffle_for_phase(std::span<double> molecules, std::uint64_t seed, std::uint32_t chain,
                       std::uint64_t step);

/// Those that steps are confined to, in their order; empty: all.
std::vector<int> confined_molecules(std::span<const double> chain_state);

}  // namespace starpmc
