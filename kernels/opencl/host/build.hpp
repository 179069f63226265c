#pragma once

#include <string>

#include "kernels/opencl/host/binary_cache.hpp"
#include "kernels/opencl/host/handles.hpp"

namespace starpmc::opencl {

/// What clGetDeviceInfo says in words.
std::string device_text(cl_device_id device, cl_device_info what);

/// A program built for a device from its text, or from the binary that an earlier build left in the
/// cache: the binary of this text, these options, this device, driver and platform.
/// @param cache nullptr: none
/// @throws RunError with the build log where the device's compiler refuses
Owned<cl_program> build_program(cl_context context, cl_device_id device, const std::string& text,
                                const std::string& options, const BinaryCache* cache);

/// Whether binaries are worth keeping: not PoCL's, which keeps its own by work-group size, and
/// compiles each kernel once more when asked for its binaries.
bool binaries_are_worth_keeping(cl_device_id device);

}  // namespace starpmc::opencl
