#pragma once

#include <span>
#include <string>

#include "kernels/opencl/host/operations.hpp"
#include "kernels/potential.hpp"

namespace starpmc::opencl {

/// Relative error of 1/r, in halves of a unit in the last place, that bounds on the error of
/// energies allow (src/sampling/mm_rounding.hpp).
inline constexpr double kRootRoundings = 4;

/// Why a device's reciprocal roots are not what bounds assume; empty: they are.
/// @param precision  of the roots
/// @param roots      of `squares`, one after another, by each of the kernels' functions
std::string fault_of_roots(Precision precision, std::span<const double> squares,
                           std::span<const double> roots);

/// Has the device take 100,000 reciprocal roots and sample a window of 216 three-site molecules,
/// beside the host: places, thresholds and decisions must have the same bits, energies must be
/// within what certified decisions allow for; not with functions of the user's. What has no bound
/// on its error must have the host's bits: check_exact().
/// @param functions that the program was made for
/// @throws RunError with what differs
void check_device(DeviceProgram& program, cl_command_queue queue, const Potential& functions = {});

}  // namespace starpmc::opencl
