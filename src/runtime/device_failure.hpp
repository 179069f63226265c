#pragma once

#include <CL/cl.h>

#include <cstdint>
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
  bool at_start;     ///< StarPU could not begin with it
};

/// Who hears of it, on any thread, while StarPU is there; a process has one. What a device held is
/// lost, so whoever goes on must begin from what lies elsewhere.
void on_device_failure(std::function<void(const DeviceFailure&)> to_be_told);

/// The worker of this thread, where it drives an OpenCL device; negative: it does not.
int device_worker_here() noexcept;

/// StarPU's name of a worker.
std::string worker_name(int worker);

/// Tells the handler; returns if there is none.
void tell_device_failure(int worker, const std::string& what);

/// Whether an environment variable that holds keys of devices, with ';' between them, has this one.
bool names_device(const char* variable, const std::string& key);

/// Whether STARPMC_FAILED_DEVICES names the worker's device: it gets no work.
bool has_failed_earlier(int worker);

/// Environment variable with the keys of devices that are to get no work, with ';' between them.
inline constexpr const char* kFailedDevices = "STARPMC_FAILED_DEVICES";

/// While it lives StarPU starts, and devices that fail are told as such that could not begin.
class DeviceStart {
 public:
  DeviceStart();
  ~DeviceStart();
  DeviceStart(const DeviceStart&) = delete;
  DeviceStart& operator=(const DeviceStart&) = delete;
};

/// Counts the tasks that an OpenCL device has been given and has ended.
void device_task_begins(int worker);
void device_task_ends(int worker);
/// Counts the functions of tasks that have returned: what they have enqueued is under way, or not
/// yet.
void device_function_returns(int worker);
/// Whether there are some that it has not ended; no for any other worker.
bool device_has_tasks(int worker);

/// Waits for what this thread has enqueued on its worker's device, where StarPU gives it one task
/// at a time (STARPU_OPENCL_PIPELINE=0): then StarPU itself waits, and does not look at the
/// outcome.
/// @throws RunError where a kernel or a copy has failed
void finish_single_task(int worker);

/// While it lives, failures are told. Looks every second whether devices that have tasks still end
/// them, and asks one that has not done so for a while, five seconds at least, of a CPU's device
/// twenty. StarPU waits for ever for a kernel that has failed after its launch: it polls for
/// "complete", which a status that tells an error never is. None is asked while its worker's thread
/// is in a task's function, where it may compile kernels: PoCL's basic device, which runs kernels
/// on the thread that enqueues them, locks itself out where another one puts a marker between.
class DeviceWatch {
 public:
  /// Of the devices that have kernels.
  DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;
  ~DeviceWatch();

 private:
  /// Of a worker's device.
  struct Watched {
    std::uint64_t ended = 0;    ///< tasks, when it was looked at last
    int seconds = 0;            ///< since then
    int longest = 0;            ///< that tasks have taken to end
    int least = 5;              ///< seconds before it is asked
    cl_event marker = nullptr;  ///< put into its queue to ask
  };
  void watch(const std::stop_token& stop);
  static void look_at(int worker, Watched& device);
  static void ask(int worker, Watched& device);

  std::map<int, Watched> devices_;
  std::jthread thread_;
};

}  // namespace starpmc::codelets
