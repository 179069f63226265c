#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/arguments.hpp"

/// Pair energies of the plain reference kernels.
namespace starpmc::scalar {

/// Displacement's periodic image of least length, along one edge.
template <class Real>
Real minimum_image(Real d, Real length) {
  return d - length * std::rint(d / length);
}

/// Shifted-force Coulomb energy of unit charges without the Coulomb constant,
/// 1/r - 1/rc + (r - rc)/rc^2 inside the cutoff (Fennell and Gezelter 2006; eq. 2 of Miranda et al.
/// 2016), written as (1 - r/rc)^2 / r, whose rounding error vanishes with the energy.
template <class Real>
class CoulombShiftedForce {
 public:
  explicit CoulombShiftedForce(double cutoff)
      : cutoff_squared_(static_cast<Real>(cutoff * cutoff)),
        inverse_(static_cast<Real>(1 / cutoff)) {}

  Real operator()(Real r2) const {
    if (!(r2 < cutoff_squared_)) return 0;
    const Real r = std::sqrt(r2);
    const Real remaining = 1 - r * inverse_;
    return remaining * remaining / r;
  }

 private:
  Real cutoff_squared_;
  Real inverse_;
};

/// c12/r^12 - c6/r^6 + shift + slope r inside the cutoff; shift and slope are 0 for a truncated
/// potential.
template <class Real>
Real lennard_jones(Real r2, Real cutoff_squared, const double* coefficients) {
  if (!(r2 < cutoff_squared)) return 0;
  const Real inverse2 = 1 / r2;
  const Real inverse6 = inverse2 * inverse2 * inverse2;
  return (static_cast<Real>(coefficients[0]) * inverse6 - static_cast<Real>(coefficients[1])) *
             inverse6 +
         static_cast<Real>(coefficients[2]) + static_cast<Real>(coefficients[3]) * std::sqrt(r2);
}

/// A position relative to an origin, wrapped once in fp64 and rounded to Real.
template <class Real>
struct Relative {
  Real x;
  Real y;
  Real z;

  static Relative from(const double* position, const double* origin, const Interaction& box) {
    return {static_cast<Real>(minimum_image(position[0] - origin[0], box.box[0])),
            static_cast<Real>(minimum_image(position[1] - origin[1], box.box[1])),
            static_cast<Real>(minimum_image(position[2] - origin[2], box.box[2]))};
  }
};

/// Squared distance of two positions given relative to the same origin, by minimum image, never
/// below the minimum distance.
template <class Real>
Real distance_squared(const Relative<Real>& a, const Relative<Real>& b, const Interaction& box) {
  const Real dx = minimum_image(a.x - b.x, static_cast<Real>(box.box[0]));
  const Real dy = minimum_image(a.y - b.y, static_cast<Real>(box.box[1]));
  const Real dz = minimum_image(a.z - b.z, static_cast<Real>(box.box[2]));
  return std::max(dx * dx + dy * dy + dz * dz, static_cast<Real>(STARPMC_MINIMUM_DISTANCE_SQUARED));
}

}  // namespace starpmc::scalar
