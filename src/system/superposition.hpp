#pragma once

#include <span>

#include "system/geometry.hpp"

namespace starpmc {

/// Bodies that lie farther from each other are not of one shape. Equilibrated water is of one
/// model, and its topology may be of another: gmx solvate's spc216.gro lies within 0.052 A of
/// TIP3P.
inline constexpr double kLargestRmsdAngstrom = 0.1;

/// How a rigid body lies on given points.
struct Superposition {
  Quaternion orientation;  ///< w >= 0; the identity for a single point
  Vector3 centre;          ///< where the origin of the body frame comes to lie
  double rmsd = 0;         ///< root mean square distance of the points (weighted), angstrom
};

/// The proper rotation and translation that lay `reference` onto `target` with the least root mean
/// square distance.
/// B. K. P. Horn, J. Opt. Soc. Am. A 4, 629 (1987): the quaternion is the eigenvector of a
/// symmetric 4x4 matrix's largest eigenvalue.
/// @param weights of the points, positive; none: all the same
/// @pre both have the same, non-zero length
Superposition superpose(std::span<const Vector3> reference, std::span<const Vector3> target,
                        std::span<const double> weights = {});

}  // namespace starpmc
