#pragma once

#include <array>

#include "kernels/common/layout.h"

namespace starpmc {

/// A box and cutoffs (angstrom); whatever else an Interaction holds is 0, so that terms which have
/// constants of their own there do nothing.
constexpr Interaction interaction_within(const std::array<double, 3>& box, double coulomb_cutoff,
                                         double vdw_cutoff) {
  Interaction interaction{};
  for (std::size_t k = 0; k < box.size(); ++k) interaction.box[k] = box[k];
  interaction.coulomb_cutoff = coulomb_cutoff;
  interaction.vdw_cutoff = vdw_cutoff;
  return interaction;
}

}  // namespace starpmc
