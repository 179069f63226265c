#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/exact_blocks.hpp"
#include "kernels/potential.hpp"
#include "kernels/simd/evaluate.hpp"

namespace starpmc {

/// Coulomb energies of unit charges at many distances, kJ/mol, with the bits of exact energies
/// (kernels/common/exact_pairs.h). For one thread.
class RadialCoulomb {
 public:
  /// @param functions of the user's; null: none
  RadialCoulomb(const Interaction& interaction, const Potential* functions);

  /// V, 0 beyond the cutoff.
  void values(std::span<const double> squared_distances, std::span<double> energies);
  /// Coefficient of its 1/r part, in units of the Coulomb constant.
  double pole() const { return pole_; }

 private:
  ExactBox box_;
  double pole_;
  std::optional<simd::BlockEvaluator<double>> user_;
};

/// erf(b r)/r at many distances, the same bits everywhere.
class GaussianPotential {
 public:
  /// @param per_angstrom b
  explicit GaussianPotential(double per_angstrom);
  void values(std::span<const double> squared_distances, std::span<double> potentials);

 private:
  simd::BlockEvaluator<double> evaluator_;
};

}  // namespace starpmc
