#pragma once

#include <span>

#include "kernels/opencl/host/window_arrays.hpp"
#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {

inline bool has_reference(const WholeWindow& whole) {
  return whole.reference.potential_values.memory != nullptr;
}

/// Of one window's steps.
inline std::size_t record_bytes(const Window& window) {
  return RECORD_FIELDS * size_of(window.layout.steps) * sizeof(cl_double);
}
/// Of the tasks' windows, one behind the other.
Buffer records_of(const Window& window, std::span<const WindowTask> tasks);

/// A chain's windows, and where their launches find what these hand to each other.
struct HandedWindows {
  Window window;
  Certification certification;
  WholeWindow whole;
  Buffer records;

  /// Puts what an operation hands to the next, and the arrays that all windows read and write, into
  /// one piece of memory, which launches are given once: each memory object costs a launch half a
  /// microsecond, and a chain's steps wait for launches.
  /// @return the arrays; its bytes() are all that this takes, whatever the memory
  WindowArrays move_to(const DeviceProgram& program, Buffer memory);

 private:
  std::size_t place_intermediates(const DeviceProgram& program, Buffer memory);
};

}  // namespace starpmc::opencl
