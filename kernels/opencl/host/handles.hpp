#pragma once

#include <CL/cl.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace starpmc::opencl {

/// @param subject what the operation was done to
/// @throws RunError naming the operation and the error, unless the operation succeeded
void check(cl_int error, std::string_view operation, std::string_view subject = {});
/// "CL_INVALID_VALUE" and so on, or the number of an error this program does not know.
std::string_view error_name(cl_int error);
/// 32 hexadecimal digits that other interfaces know a device by, too; empty: it does not tell.
std::string device_uuid(cl_device_id device);

struct Release {
  void operator()(cl_context context) const { clReleaseContext(context); }
  void operator()(cl_program program) const { clReleaseProgram(program); }
  void operator()(cl_kernel kernel) const { clReleaseKernel(kernel); }
  void operator()(cl_mem memory) const { clReleaseMemObject(memory); }
  void operator()(cl_event event) const { clReleaseEvent(event); }
  void operator()(cl_command_queue queue) const { clReleaseCommandQueue(queue); }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release>;

}  // namespace starpmc::opencl
