#pragma once

#include "kernels/arguments.hpp"

/// The plain reference implementations, readable beside the equations.
namespace starpmc::scalar {
#include "kernels/operations.inc"
}  // namespace starpmc::scalar

/// The same with Google Highway: the best instruction set of the machine is chosen at run time.
namespace starpmc::simd {
#include "kernels/operations.inc"
/// Name of the instruction set in use ("AVX3", "AVX2", ...).
const char* instruction_set();
}  // namespace starpmc::simd
