#pragma once

#include <span>
#include <string>
#include <vector>

namespace starpmc {

// Where an OpenCL device fails in the midst of a command, the same program takes the place of this
// process (execve(2)) and goes on without it: a run at its last checkpoint, to the same bits, as if
// the process had been killed and resumed. What StarPU has on such a device cannot be had back, and
// ending StarPU may wait for it for ever.

/// Keeps what a successor begins with: the environment that this process was given, before StarPU
/// changes it. Without it there is no successor.
void remember_start();

/// While it lives, a device that fails ends this process in favour of `starpmc ARGUMENTS`.
class DeviceSuccession {
 public:
  explicit DeviceSuccession(std::span<const std::string> arguments);
  ~DeviceSuccession();
  DeviceSuccession(const DeviceSuccession&) = delete;
  DeviceSuccession& operator=(const DeviceSuccession&) = delete;
};

}  // namespace starpmc
