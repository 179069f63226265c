#pragma once

#include <optional>
#include <string>
#include <vector>

namespace starpmc {

/// What OpenCL offers; asked before StarPU starts.
struct OpenclOffer {
  bool has_drivers = false;
  std::vector<std::string> accelerators;  ///< names of the GPUs and the like that can be used
  std::vector<std::string> processors;    ///< names of the CPU devices
  std::string trouble;                    ///< why there may be fewer devices than there should be
  /// One of them cannot be used. StarPU, which would end the program, must see none.
  bool hides_accelerators = false;
  /// Which it is, why, and what to do; empty: none was wanted.
  std::vector<std::string> refused = {};
};

OpenclOffer opencl_offer();

/// Whether the devices that StarPU may drive, several ones, are all of one name. As the environment
/// is then (STARPU_OPENCL_ON_CPUS).
bool equal_devices(const OpenclOffer& offer);

/// What the user, or the machine, says should be there and is not: its work goes elsewhere.
/// @param workers OpenCL devices that StarPU drives
std::optional<std::string> missing_devices(const OpenclOffer& offer, unsigned workers);

}  // namespace starpmc
