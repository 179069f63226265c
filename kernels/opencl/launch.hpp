#pragma once

#include <array>
#include <string>
#include <type_traits>

#include "kernels/common/layout.h"
#include "kernels/opencl/handles.hpp"
#include "kernels/opencl/kernel_arguments.h"
#include "kernels/opencl/operations.hpp"

namespace starpmc::opencl {

/// Sets a kernel's arguments one after another, then enqueues it.
class Launch {
 public:
  Launch(Program& program, const char* name) : name_(name), kernel_(program.kernel(name_)) {}

  /// A value as it is: a number or a structure that host and device share.
  template <class Value>
  requires(std::is_trivially_copyable_v<Value> &&
           !std::is_pointer_v<Value>) Launch& with(const Value& value) {
    return set(sizeof(Value), &value);
  }
  Launch& with(Buffer buffer) {
    set(sizeof(cl_mem), &buffer.memory);
    return with(static_cast<cl_ulong>(buffer.offset_bytes));
  }
  Launch& with_local(std::size_t bytes) { return set(bytes, nullptr); }

  /// @param groups number of work-groups, at least one in each dimension
  void run(cl_command_queue queue, std::array<std::size_t, 2> groups,
           std::array<std::size_t, 2> group_size) {
    const std::array<std::size_t, 2> items{groups[0] * group_size[0], groups[1] * group_size[1]};
    check(clEnqueueNDRangeKernel(queue, kernel_, 2, nullptr, items.data(), group_size.data(), 0,
                                 nullptr, nullptr),
          "clEnqueueNDRangeKernel(" + name_ + ")");
  }

 private:
  Launch& set(std::size_t size, const void* value) {
    check(clSetKernelArg(kernel_, argument_, size, value),
          "clSetKernelArg(" + name_ + ", " + std::to_string(argument_) + ")");
    ++argument_;
    return *this;
  }

  std::string name_;
  cl_kernel kernel_;
  cl_uint argument_ = 0;
};

inline std::size_t size_of(int value) { return static_cast<std::size_t>(value); }
inline std::size_t groups_for(int items, int group) { return size_of((items + group - 1) / group); }

WindowShape window_shape(const Window& window);
PairConstants pair_constants(const Interaction& interaction);
void fill_with_zeros(cl_command_queue queue, int count, Buffer energies);
/// @throws RunError where a kernel's work-group needs more local memory than the device has
void check_local_memory(const Program& program, std::size_t bytes, const char* kernel);

}  // namespace starpmc::opencl
