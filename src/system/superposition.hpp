#pragma once

#include <span>

#include "system/geometry.hpp"

namespace starpmc {

/// How a rigid body lies on given points.
struct Superposition {
  Quaternion orientation;  ///< w >= 0; the identity for a single point
  Vector3 centre;          ///< where the origin of the body frame comes to lie
  double rmsd = 0;         ///< root mean square distance of the points, angstrom
};

/// The proper rotation and translation that lay `reference` onto `target` with the least root mean
/// square distance; every point has the same weight.
/// B. K. P. Horn, J. Opt. Soc. Am. A 4, 629 (1987): the quaternion is the eigenvector of a
/// symmetric 4x4 matrix's largest eigenvalue.
/// @pre both have the same, non-zero length
Superposition superpose(std::span<const Vector3> reference, std::span<const Vector3> target);

}  // namespace starpmc
