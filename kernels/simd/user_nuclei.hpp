#pragma once

#include "kernels/arguments.hpp"

namespace starpmc::simd {

/// qmmm_nuclei_vdw where functions of the user's are part of it.
void user_nuclei_vdw(const NucleiVdwArguments<double>& arguments, const Potential& potential);

}  // namespace starpmc::simd
