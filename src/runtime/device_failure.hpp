#pragma once

#include <CL/cl.h>

#include <functional>
#include <map>
#include <string>
#include <thread>

namespace starpmc::codelets {

/// An OpenCL device that no longer does what it is told: it has vanished, is out of memory, or its
/// kernels do not end.
struct DeviceFailure {
  std::string key;   ///< tells it from others, in another process, too
  std::string name;  ///< StarPU's of its worker
  std::string what;  ///< the error
};

/// Who hears of it, on any thread, while StarPU is there; a process has one. What a device held is
/// lost, so whoever goes on must begin from what lies elsewhere.
void on_device_failure(std::function<void(const DeviceFailure&)> handler);

/// Tells the handler; returns if there is none.
void tell_device_failure(int worker, const std::string& what);

/// Whether STARPMC_FAILED_DEVICES names the worker's device: it gets no work.
bool has_failed_earlier(int worker);

/// Environment variable with the keys of devices that are to get no work, with ';' between them.
inline constexpr const char* kFailedDevices = "STARPMC_FAILED_DEVICES";

/// While it lives, failures are told. Looks every second whether the devices still work. StarPU
/// waits for ever for a kernel that has failed after its launch: it polls for "complete", which a
/// status that tells an error never is.
class DeviceWatch {
 public:
  /// Of the devices that have kernels.
  DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;
  ~DeviceWatch();

 private:
  void watch(const std::stop_token& stop);
  void look_at(int worker);

  std::map<int, cl_event> markers_;  ///< the last one put into each worker's queue
  std::jthread thread_;
};

}  // namespace starpmc::codelets
