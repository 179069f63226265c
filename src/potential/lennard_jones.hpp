#pragma once

#include <array>
#include <cmath>

#include "config/settings.hpp"
#include "system/system.hpp"

namespace starpmc {

/// c12, c6, shift, slope of V = c12/r^12 - c6/r^6 + shift + slope r.
inline std::array<double, 4> lennard_jones_coefficients(const LennardJones& pair,
                                                        const Settings::InteractionSection& at) {
  const double cutoff = at.vdw_cutoff_angstrom;
  const double inverse6 = 1 / std::pow(cutoff, 6);
  const double energy = (pair.c12 * inverse6 - pair.c6) * inverse6;
  const double derivative = (-12 * pair.c12 * inverse6 + 6 * pair.c6) * inverse6 / cutoff;
  double shift = 0;
  double slope = 0;
  if (at.vdw_modifier == VdwModifier::potential_shift) shift = -energy;
  if (at.vdw_modifier == VdwModifier::force_shift) {
    slope = -derivative;
    shift = -energy + derivative * cutoff;
  }
  return {pair.c12, pair.c6, shift, slope};
}

}  // namespace starpmc
