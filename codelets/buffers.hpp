#pragma once

#include "runtime/codelet.hpp"
#include "runtime/opencl_programs.hpp"

namespace starpmc::codelets {

/// A task's buffers on a core, by their places among its accesses.
class HostBuffers {
 public:
  explicit HostBuffers(void** buffers) : buffers_(buffers) {}

  template <class T>
  std::span<const T> read(std::size_t place) const {
    return span_of<const T>(buffers_[place]);
  }
  template <class T>
  std::span<T> write(std::size_t place) const {
    return span_of<T>(buffers_[place]);
  }
  /// Nothing where the task has no such buffer.
  template <class T>
  std::span<const T> read_if(bool present, std::size_t place) const {
    return present ? read<T>(place) : std::span<const T>();
  }
  template <class T>
  std::span<T> write_if(bool present, std::size_t place) const {
    return present ? write<T>(place) : std::span<T>();
  }
  /// Several that are one quantity's parts, one behind another.
  std::vector<std::span<const double>> parts(std::size_t first, int count) const {
    std::vector<std::span<const double>> all;
    for (int i = 0; i < count; ++i) all.push_back(read<double>(first++));
    return all;
  }

 private:
  void** buffers_;
};

/// The same on a device.
class DeviceBuffers {
 public:
  explicit DeviceBuffers(void** buffers) : buffers_(buffers) {}

  opencl::Buffer at(std::size_t place) const { return opencl_buffer(buffers_[place]); }
  opencl::Buffer at_if(bool present, std::size_t place) const {
    return present ? at(place) : opencl::Buffer{};
  }
  std::vector<opencl::Buffer> parts(std::size_t first, int count) const {
    std::vector<opencl::Buffer> all;
    for (int i = 0; i < count; ++i) all.push_back(at(first++));
    return all;
  }

 private:
  void** buffers_;
};

}  // namespace starpmc::codelets
