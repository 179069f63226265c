#pragma once

#include <array>
#include <cstddef>

#include "kernels/opencl/host/operations.hpp"
#include "kernels/opencl/kernel_arguments.h"

namespace starpmc::opencl {

/// Arrays that a task's windows read and write again and again, brought to where they hand things
/// to each other, and what they have written back: once for a task (window_arrays.cl says why).
class WindowArrays {
 public:
  enum class Way { in, in_and_out, out };

  /// @param memory what has been placed lies before `used` bytes of it
  WindowArrays(Buffer memory, std::size_t used) : memory_(memory), bytes_(used) {}

  /// Of the memory, up to the last array's end.
  std::size_t bytes() const { return bytes_; }
  const Buffer& memory() const { return memory_; }

  /// From now on `array` is the place; where there is none, nothing is done.
  /// @throws RunError where its size is not told
  void place(Buffer& array, Way way);
  /// Enqueue the copies.
  void bring(DeviceProgram& program, cl_command_queue queue);
  void put_back(DeviceProgram& program, cl_command_queue queue);

 private:
  using Words = std::array<int, HANDED_ARRAYS>;

  void copy(DeviceProgram& program, cl_command_queue queue, const char* kernel, const Words& words);

  Buffer memory_;
  std::size_t bytes_;
  std::size_t count_ = 0;
  std::array<Buffer, HANDED_ARRAYS> arrays_{};  ///< where they come from
  Words words_in_{};
  Words words_out_{};
  HandedArrays places_{};
};

}  // namespace starpmc::opencl
