#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "potential/lattice_plan.hpp"
#include "potential/lattice_values.hpp"

namespace starpmc {

/// What the potentials on a lattice are made of.
struct LatticeSources {
  Interaction interaction{};
  const Potential* functions = nullptr;  ///< of the user's; null: none
  /// Charges that have the potentials away from the solute.
  std::span<const Vector3> points;
  std::span<const double> strengths;  ///< [component][point]; e for phi0
  /// Plain 1/r potentials of the densities themselves at LatticePlan::near_positions().
  std::span<const double> near;  ///< [component][position]
};

/// Values at the nodes, then the coefficients of the splines that have them. With S = V - A/r, A
/// the coefficient of the Coulomb function's 1/r part,
///   near nodes:              A near(R) + sum over points of c S(|R - r|)
///   others of that level:    sum of c V(|R - r|)
///   nodes of other levels:   the same with a ball's potential for A/r (LatticePlan says which),
/// distances by the nearest image, V 0 beyond the cutoff. The same bits everywhere, for any number
/// of threads.
/// @throws RunError where a value is not finite
LatticeValues make_potential_lattice(const LatticePlan& plan, const LatticeSources& sources,
                                     unsigned threads);

/// Indices of the positions that are nearer to a nucleus than that, by increasing number.
std::vector<std::size_t> near_positions(std::span<const Vector3> positions,
                                        std::span<const Vector3> nuclei, double distance);

/// The potentials that a lattice approximates, without a lattice.
/// @param near    near_positions() by the distance of the lattice's choice
/// @param sources with `near` for these
/// @return [component][position]
std::vector<double> direct_potentials(std::span<const Vector3> positions,
                                      std::span<const std::size_t> near, std::size_t components,
                                      const LatticeSources& sources, unsigned threads);

}  // namespace starpmc
