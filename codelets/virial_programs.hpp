#pragma once

#include "kernels/opencl/host/pair_virial.hpp"

namespace starpmc::codelets {

/// The virial's kernels for these functions on the device whose worker runs the current task, built
/// when first asked for.
opencl::VirialProgram& virial_program(const PairDerivatives& functions);

}  // namespace starpmc::codelets
