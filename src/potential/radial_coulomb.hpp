#pragma once

#include <optional>
#include <span>

#include "kernels/exact_blocks.hpp"
#include "kernels/potential.hpp"
#include "kernels/simd/evaluate.hpp"

namespace starpmc {

/// Coulomb energies of unit charges at many distances, kJ/mol, the same bits everywhere. Those of
/// the built-in function are without a root or a division; those of a user's have the bits of exact
/// energies (kernels/common/exact_pairs.h). For one thread.
class RadialCoulomb {
 public:
  /// @param functions of the user's; null: none
  RadialCoulomb(const Interaction& interaction, const Potential* functions);

  /// V, 0 beyond the cutoff.
  /// @param inverses inverse_roots() of the squared distances, where it reads them
  void values(std::span<const double> squared_distances, std::span<const double> inverses,
              std::span<double> energies);
  bool reads_inverses() const { return !user_.has_value(); }
  /// Coefficient of its 1/r part, in units of the Coulomb constant.
  double pole() const { return pole_; }

 private:
  ExactBox box_;
  double pole_;
  std::optional<simd::BlockEvaluator<double>> user_;
};

/// x^(-1/2) to 4e-11 by multiplications alone.
void inverse_roots(std::span<const double> x, std::span<double> roots);

}  // namespace starpmc
