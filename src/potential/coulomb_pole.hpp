#pragma once

#include "kernels/program.hpp"

namespace starpmc {

/// The limit of r V(r) at r = 0 of a Coulomb function V (1/A): the coefficient of its 1/r part,
/// rounded to 2^-30. 0 where there is no such limit: a function without a pole, or with a steeper
/// one.
double coulomb_pole_of(const Program& coulomb);

}  // namespace starpmc
