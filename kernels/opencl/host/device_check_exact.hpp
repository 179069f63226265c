#pragma once

#include "kernels/opencl/host/operations.hpp"
#include "kernels/potential.hpp"

namespace starpmc::opencl {

/// Has the device compute what must have the same bits everywhere and has no bound on its error:
/// the potential of molecules at points, with the user's function where there is one, and the field
/// of a fixed reference with its response.
/// @throws RunError with what differs from the host's
void check_exact(DeviceProgram& program, cl_command_queue queue, const Potential& functions);

}  // namespace starpmc::opencl
