#pragma once

#include "kernels/arguments.hpp"

namespace starpmc::simd {

/// qmmm_coulomb_grid with the user's Coulomb function.
template <class Real>
void user_coulomb_grid(const CoulombGridArguments<Real>& arguments, const Potential& potential);

}  // namespace starpmc::simd
