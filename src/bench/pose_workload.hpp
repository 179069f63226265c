#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/receptor_blocks.hpp"

namespace starpmc {

/// Random charges at the shaken places of two lattices, one between the places of the other, so
/// that no two come nearer than atoms do: half of the particles are the receptor, half the ligand.
/// An evaluation is the Coulomb energy of all pairs between the halves.
class PoseWorkload {
 public:
  /// @param evaluations poses there are positions for, one after another
  PoseWorkload(std::size_t particles, std::size_t evaluations, std::uint64_t seed);

  template <class Real>
  PoseEnergiesArguments<Real> arguments(std::size_t evaluations, int newton_steps,
                                        std::span<double> energies) const;

  double pairs() const { return static_cast<double>(sites_) * static_cast<double>(sites_); }
  std::size_t sites() const { return sites_; }
  std::span<double> positions() { return positions_; }
  std::span<double> ligand() { return ligand_; }
  ReceptorBlocks<float>& receptor() { return single_; }
  /// All charges replaced by their magnitudes: energies become sums of pair energies' magnitudes.
  void take_magnitudes();

 private:
  void make_blocks();

  std::size_t sites_;
  ReceptorSites receptor_sites_;
  ReceptorBlocks<float> single_;
  ReceptorBlocks<double> wide_;
  std::vector<double> ligand_;
  std::vector<double> positions_;
};

}  // namespace starpmc
