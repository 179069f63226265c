#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/common/layout.h"
#include "kernels/opencl/host/handles.hpp"
#include "kernels/opencl/host/operations.hpp"
#include "kernels/opencl/kernel_arguments.h"

namespace starpmc::opencl {

/// A kernel that remembers its arguments: most stay the same from window to window, and setting one
/// costs as much as a step of the chain.
class PreparedKernel {
 public:
  explicit PreparedKernel(Owned<cl_kernel> kernel) : kernel_(std::move(kernel)) {}

  cl_kernel get() const { return kernel_.get(); }
  /// @param value null: `size` bytes of local memory
  cl_int set(cl_uint index, std::size_t size, const void* value);
  /// Keeps the memory alive: another could have its address, and would pass for it.
  cl_int set(cl_uint index, cl_mem memory);

 private:
  struct Argument {
    bool set = false;
    std::size_t local_bytes = 0;
    std::vector<std::byte> value;
    Owned<cl_mem> memory;
  };
  Owned<cl_kernel> kernel_;
  std::vector<Argument> arguments_;
};

/// A buffer of a memory object that a kernel is given once (PLACE of portable.h).
struct Place {
  explicit Place(const Buffer& buffer) : offset_bytes(buffer.offset_bytes) {}
  cl_ulong offset_bytes;
};

/// Sets a kernel's arguments one after another, then enqueues it.
class Launch {
 public:
  Launch(DeviceProgram& program, cl_command_queue queue, const char* name)
      : Launch(program.kernel(queue, name), queue, name) {}
  /// @param name of the kernel, for messages
  Launch(PreparedKernel& kernel, cl_command_queue queue, const char* name)
      : name_(name), queue_(queue), kernel_(kernel) {}

  /// Buffers, and values as they are: numbers, and structures that host and device share.
  template <class... Values>
  Launch& with(const Values&... values) {
    (add(values), ...);
    return *this;
  }
  /// The four that nearly every kernel of a window reads.
  Launch& with_buffers_of(const Window& window) {
    return with(window.topology_reals, window.topology_integers, window.plan, window.entries);
  }
  /// The one that places are in.
  Launch& with_memory_of(const Buffer& buffer) {
    set_memory(buffer);
    return *this;
  }
  Launch& with_local(std::size_t bytes) {
    set(bytes, nullptr);
    return *this;
  }

  /// @param groups number of work-groups, at least one in each dimension
  void run(std::array<std::size_t, 2> groups, std::array<std::size_t, 2> group_size) {
    const std::array<std::size_t, 2> items{groups[0] * group_size[0], groups[1] * group_size[1]};
    check(clEnqueueNDRangeKernel(queue_, kernel_.get(), 2, nullptr, items.data(), group_size.data(),
                                 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel", name_);
  }

 private:
  template <class Value>
  requires(std::is_trivially_copyable_v<Value> &&
           !std::is_pointer_v<Value>) void add(const Value& value) {
    set(sizeof(Value), &value);
  }
  void add(const Buffer& buffer) {
    set_memory(buffer);
    add(static_cast<cl_ulong>(buffer.offset_bytes));
  }
  void set_memory(const Buffer& buffer) {
    check(kernel_.set(argument_++, buffer.memory), "clSetKernelArg", name_);
  }
  void set(std::size_t size, const void* value) {
    check(kernel_.set(argument_++, size, value), "clSetKernelArg", name_);
  }

  const char* name_;
  cl_command_queue queue_;
  PreparedKernel& kernel_;
  cl_uint argument_ = 0;
};

inline std::size_t size_of(int value) { return static_cast<std::size_t>(value); }
inline int whole_groups(int items, int group) { return (items + group - 1) / group; }
inline std::size_t groups_for(int items, int group) { return size_of(whole_groups(items, group)); }

WindowShape window_shape(const Window& window);
PairConstants pair_constants(const Interaction& interaction);
void fill_with_zeros(cl_command_queue queue, int count, Buffer energies);
/// @throws RunError where a kernel's work-group needs more local memory than the device has
void check_local_memory(const DeviceProgram& program, std::size_t bytes, const char* kernel);

}  // namespace starpmc::opencl
