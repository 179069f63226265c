#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/receptor_blocks.hpp"

namespace starpmc {

/// The fictitious system of Perez-Sanchez and Wenzel (2008): random charges at random positions,
/// half of the particles each in "receptor" and "ligand". One evaluation is the Coulomb energy of
/// all pairs between the halves, in single precision as there.
class CellSystem {
 public:
  enum class Places {
    anywhere,  ///< as there: some lie on one another
    apart      ///< at the places of a lattice, shaken: no two nearer than atoms come
  };
  /// @param evaluations in the buffer of positions, one after another
  CellSystem(std::size_t particles, std::size_t evaluations, std::uint64_t seed,
             Places places = Places::anywhere);

  template <class Real>
  PoseEnergiesArguments<Real> arguments(std::size_t evaluations, int newton_steps,
                                        std::span<double> energies) const;

  double pairs() const { return static_cast<double>(sites_) * static_cast<double>(sites_); }
  std::size_t sites() const { return sites_; }
  /// Evaluations there are positions for.
  std::size_t positions_count() const {
    return positions_.size() / static_cast<std::size_t>(pose_size(static_cast<int>(sites_)));
  }
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
