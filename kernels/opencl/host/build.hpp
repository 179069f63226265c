#pragma once

#include <functional>
#include <string>

#include "kernels/base/binary_cache.hpp"
#include "kernels/opencl/host/handles.hpp"

namespace starpmc::opencl {

/// What clGetDeviceInfo says in words.
std::string device_text(cl_device_id device, cl_device_info what);

/// What may help with programs that no cache has, which take a GPU's driver up to a minute. Called
/// by several threads at once.
struct BuildHelp {
  /// Before the first of them is built; may be empty.
  std::function<void(const std::string& device)> tell;
  /// Has build_into_cache() called in another process and waits for it: NVIDIA's driver builds one
  /// program after the other in one process, and several at once in several. May be empty.
  std::function<void(const std::string& request)> build;
};
/// To be said before programs are built.
void set_build_help(BuildHelp help);

/// What another process has asked for: a program of the user's cache. The device is found by its
/// number, so that both processes have to see the same ones.
/// @throws RunError where the request is none, there is no such device, or its compiler refuses
void build_into_cache(const std::string& request);

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
