#include "runtime/device_failure.hpp"

#include <fmt/format.h>
#include <starpu.h>
#include <starpu_opencl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/environment.hpp"
#include "kernels/base/error.hpp"
#include "kernels/opencl/host/handles.hpp"
#include "runtime/opencl_programs.hpp"

namespace starpmc::codelets {
namespace {

std::mutex handler_mutex;
std::atomic<bool> watching{false};
std::atomic<bool> starting{false};
std::array<std::atomic<std::uint64_t>, STARPU_NMAXWORKERS> begun{};
std::array<std::atomic<std::uint64_t>, STARPU_NMAXWORKERS> ended{};
std::array<std::atomic<std::uint64_t>, STARPU_NMAXWORKERS> returned{};
std::function<void(const DeviceFailure&)>& handler() {
  static std::function<void(const DeviceFailure&)> of_process;
  return of_process;
}

/// Before a device is asked: kernels of a CPU's device take longer, and it hardly fails.
constexpr int kLeastSeconds = 5;
constexpr int kLeastSecondsOfCpu = 20;

std::string device_key(int worker) {
  cl_device_id id = nullptr;
  starpu_opencl_get_device(starpu_worker_get_devid(worker), &id);
  std::string uuid = id == nullptr ? "" : opencl::device_uuid(id);
  return uuid.empty() ? worker_name(worker) : uuid;
}

std::string describe(cl_int error) {
  return fmt::format("a kernel or a copy has failed: {} ({})", opencl::error_name(error), error);
}

}  // namespace

int device_worker_here() noexcept {
  const int worker = starpu_worker_get_id();
  const bool drives = worker >= 0 && starpu_worker_get_type(worker) == STARPU_OPENCL_WORKER;
  return drives ? worker : -1;
}

std::string worker_name(int worker) {
  char name[128] = "?";
  starpu_worker_get_name(worker, name, sizeof name);
  return name;
}

void on_device_failure(std::function<void(const DeviceFailure&)> to_be_told) {
  const std::lock_guard lock(handler_mutex);
  handler() = std::move(to_be_told);
}

void tell_device_failure(int worker, const std::string& what) {
  // One at a time: the first may end this process, and the others need not.
  const std::lock_guard lock(handler_mutex);
  if (!handler() || !(watching || starting)) return;
  handler()({device_key(worker), worker_name(worker), what, starting});
}

DeviceStart::DeviceStart() { starting = true; }
DeviceStart::~DeviceStart() { starting = false; }

bool names_device(const char* variable, const std::string& key) {
  return (';' + environment(variable) + ';').find(';' + key + ';') != std::string::npos;
}

bool has_failed_earlier(int worker) { return names_device(kFailedDevices, device_key(worker)); }

void device_task_begins(int worker) { ++begun[static_cast<std::size_t>(worker)]; }
void device_task_ends(int worker) { ++ended[static_cast<std::size_t>(worker)]; }
void device_function_returns(int worker) { ++returned[static_cast<std::size_t>(worker)]; }
bool device_has_tasks(int worker) {
  return begun[static_cast<std::size_t>(worker)] > ended[static_cast<std::size_t>(worker)];
}

void finish_single_task(int worker) {
  const std::string pipeline = environment("STARPU_OPENCL_PIPELINE");
  if (pipeline.empty() || std::strtol(pipeline.c_str(), nullptr, 10) != 0) return;
  cl_command_queue queue = nullptr;
  starpu_opencl_get_queue(starpu_worker_get_devid(worker), &queue);
  cl_event marker = nullptr;
  cl_int error = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker);
  if (error == CL_SUCCESS) {
    error = clWaitForEvents(1, &marker);
    // Of the two errors, this one says what has happened.
    cl_int status = CL_COMPLETE;
    clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (status < 0) error = status;
    clReleaseEvent(marker);
  }
  if (error != CL_SUCCESS) throw RunError(describe(error));
}

DeviceWatch::DeviceWatch() {
  watching = true;
#ifdef STARPU_SIMGRID
  return;  // devices there are models
#endif
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    const int worker = static_cast<int>(id);
    begun[id] = 0;
    ended[id] = 0;
    returned[id] = 0;
    if (starpu_worker_get_type(worker) != STARPU_OPENCL_WORKER) continue;
    const int device = starpu_worker_get_devid(worker);
    if (!has_opencl_program(device)) continue;
    devices_[worker].least = is_opencl_cpu(device) ? kLeastSecondsOfCpu : kLeastSeconds;
  }
  if (devices_.empty()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

DeviceWatch::~DeviceWatch() {
  watching = false;
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  for (const auto& [worker, device] : devices_) {
    if (device.marker != nullptr) clReleaseEvent(device.marker);
  }
}

void DeviceWatch::watch(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any ending;
  std::unique_lock lock(mutex);
  while (!ending.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; })) {
    if (stop.stop_requested()) return;
    for (auto& [worker, device] : devices_) look_at(worker, device);
  }
}

void DeviceWatch::look_at(int worker, Watched& device) {
  constexpr int kTimesAsLong = 20;
  const auto index = static_cast<std::size_t>(worker);
  const std::uint64_t now = ended[index];
  const bool has_tasks = begun[index] > now;
  const bool in_function = begun[index] > returned[index];
  if (!has_tasks || in_function || now != device.ended) {
    if (has_tasks && !in_function) device.longest = std::max(device.longest, device.seconds);
    device.seconds = 0;
    device.ended = now;
    return;
  }
  // Queues are left alone while tasks end: that another thread than StarPU's puts something there
  // is not what drivers are tried with.
  if (++device.seconds > std::max(device.least, kTimesAsLong * device.longest)) {
    ask(worker, device);
  }
}

void DeviceWatch::ask(int worker, Watched& device) {
  cl_event& marker = device.marker;
  cl_int error = CL_SUCCESS;
  if (marker != nullptr) {
    cl_int status = CL_QUEUED;
    error =
        clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (error == CL_SUCCESS && status > CL_COMPLETE) return;  // under way
    if (error == CL_SUCCESS) error = status;
    clReleaseEvent(std::exchange(marker, nullptr));
  }
  if (error == CL_SUCCESS) {
    cl_command_queue queue = nullptr;
    starpu_opencl_get_queue(starpu_worker_get_devid(worker), &queue);
    error = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker);
    if (error == CL_SUCCESS) error = clFlush(queue);
  }
  if (error == CL_SUCCESS) return;
  const std::string what = describe(error);
  tell_device_failure(worker, what);
  // StarPU would wait for ever, and whoever waits for its tasks with it.
  std::fputs(fmt::format("starpmc: error: {} failed: {}\n  remedy: go on with the run (starpmc "
                         "resume); {}={} in the environment leaves the device out\n",
                         worker_name(worker), what, kFailedDevices, device_key(worker))
                 .c_str(),
             stderr);
  _exit(1);
}

}  // namespace starpmc::codelets
