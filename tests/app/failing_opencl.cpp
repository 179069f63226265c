/// Loaded before libOpenCL (LD_PRELOAD): a device that fails after some launches of kernels.
///
/// FAILING_OPENCL says how: "launch", kernels are refused; "kernel", they are launched and fail;
/// "copy", what is read from the device and written to it fails; "start", no other thread than the
/// first gets a queue. FAILING_OPENCL_AFTER says after how many launches. "context": processors
/// pass for GPUs, which make no context, as NVIDIA's under MPS.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace {

std::atomic<long> launches{0};

template <class Function>
Function next(Function /*of this type*/, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#define NEXT(function) next(&function, #function)

bool fails(const char* part) {
  const char* const how = std::getenv("FAILING_OPENCL");
  const char* const after = std::getenv("FAILING_OPENCL_AFTER");
  return how != nullptr && std::string(how) == part &&
         launches > (after == nullptr ? 0 : std::atol(after));
}

bool makes_no_context() {
  const char* const how = std::getenv("FAILING_OPENCL");
  return how != nullptr && std::string(how) == "context";
}

std::mutex events_mutex;
std::set<cl_event>& failed_events() {
  static std::set<cl_event> events;
  return events;
}

cl_int end_with(cl_int error, const char* part, const cl_event* event) {
  if (error != CL_SUCCESS || event == nullptr || *event == nullptr) return error;
  const std::lock_guard lock(events_mutex);
  if (fails(part)) {
    failed_events().insert(*event);
  } else {
    failed_events().erase(*event);  // another one of the same address
  }
  return error;
}

}  // namespace

extern "C" {

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count,
                      cl_device_id* devices, cl_uint* found) {
  if (makes_no_context()) {
    if ((type & CL_DEVICE_TYPE_GPU) == 0) return CL_DEVICE_NOT_FOUND;
    type = CL_DEVICE_TYPE_CPU;
  }
  return NEXT(clGetDeviceIDs)(platform, type, count, devices, found);
}

cl_context clCreateContext(const cl_context_properties* properties, cl_uint count,
                           const cl_device_id* devices,
                           void(CL_CALLBACK* told)(const char*, const void*, size_t, void*),
                           void* with, cl_int* error) {
  if (!makes_no_context()) {
    return NEXT(clCreateContext)(properties, count, devices, told, with, error);
  }
  constexpr cl_int kNvidias = -9999;
  if (error != nullptr) *error = kNvidias;
  return nullptr;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int* error) {
  if (gettid() == getpid() || !fails("start")) {
    return NEXT(clCreateCommandQueue)(context, device, properties, error);
  }
  if (error != nullptr) *error = CL_OUT_OF_HOST_MEMORY;
  return nullptr;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint count, const cl_event* waits, cl_event* event) {
  if (gettid() != getpid()) ++launches;  // those of StarPU's workers
  if (fails("launch")) return CL_OUT_OF_RESOURCES;
  return NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, count,
                                      waits, event);
}

cl_int clEnqueueMarker(cl_command_queue queue, cl_event* event) {
  return end_with(NEXT(clEnqueueMarker)(queue, event), "kernel", event);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* waits,
                                   cl_event* event) {
  return end_with(NEXT(clEnqueueMarkerWithWaitList)(queue, count, waits, event), "kernel", event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void* to, cl_uint count, const cl_event* waits,
                           cl_event* event) {
  return end_with(
      NEXT(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size, to, count, waits, event),
      "copy", event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void* from, cl_uint count, const cl_event* waits,
                            cl_event* event) {
  return end_with(
      NEXT(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, from, count, waits, event),
      "copy", event);
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void* value, size_t* set) {
  const cl_int error = NEXT(clGetEventInfo)(event, what, size, value, set);
  if (error != CL_SUCCESS || what != CL_EVENT_COMMAND_EXECUTION_STATUS) return error;
  const std::lock_guard lock(events_mutex);
  if (failed_events().contains(event)) *static_cast<cl_int*>(value) = CL_OUT_OF_RESOURCES;
  return error;
}
}
