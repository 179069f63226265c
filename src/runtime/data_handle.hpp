#pragma once

#include <starpu.h>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace starpmc {

/// Owns a StarPU vector handle.
class DataHandle {
 public:
  DataHandle() = default;
  /// A vector without a home: StarPU allocates it where tasks write it.
  template <class T>
  static DataHandle temporary(std::size_t size) {
    return DataHandle(-1, nullptr, size, sizeof(T));
  }
  /// A vector that lives in `host`, which must outlive the handle.
  template <class T>
  static DataHandle of(std::span<T> host) {
    return DataHandle(STARPU_MAIN_RAM, host.data(), host.size(), sizeof(T));
  }
  ~DataHandle() { reset(); }
  DataHandle(DataHandle&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), temporary_(other.temporary_) {}
  DataHandle& operator=(DataHandle&& other) noexcept {
    reset();
    handle_ = std::exchange(other.handle_, nullptr);
    temporary_ = other.temporary_;
    return *this;
  }

  starpu_data_handle_t get() const { return handle_; }

  /// Asks for a copy on each device that may run tasks; does not wait for it. For what all tasks
  /// read: a scheduler weighs the copy against the one task that it places, so that the first on a
  /// device may never come.
  /// @throws RunError when StarPU refuses
  void bring_to_devices() const;
  /// Waits for the tasks that use it; then the only copy is a device's, for tasks that write it
  /// though StarPU does not know (codelets::QueuedTasks), or after them.
  /// @param worker which drives the device
  /// @param mode   STARPU_W: whatever the contents are; STARPU_RW: they count
  /// @throws RunError when StarPU refuses, or a task has failed
  void leave_to_device(int worker, starpu_data_access_mode mode) const;

 private:
  DataHandle(int home, const void* data, std::size_t size, std::size_t element_size);
  /// Waits for the tasks that use it.
  void reset() noexcept;

  starpu_data_handle_t handle_ = nullptr;
  bool temporary_ = false;
};

/// What one thread tells another, once.
class Arrival {
 public:
  void tell();
  void wait() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool told_ = false;
};

/// Access of the host to a handle's data, for as long as the object lives. Waits for the tasks
/// submitted before.
/// @throws RunError when one of them has failed
template <class T>
class HostAccess {
 public:
  HostAccess(const DataHandle& handle, starpu_data_access_mode mode);
  ~HostAccess() { release(); }
  HostAccess(const HostAccess&) = delete;
  HostAccess& operator=(const HostAccess&) = delete;

  std::span<T> data() const { return data_; }

 private:
  void release() { starpu_data_release_on_node(handle_, STARPU_MAIN_RAM); }

  starpu_data_handle_t handle_;
  std::span<T> data_;
};

/// What a handle's doubles are after the tasks submitted before, for a host that does not want to
/// wait for them yet; tasks submitted later may write.
///
/// No task of StarPU's (starpu_data_cpy): such a one may be given to a CPU worker that waits for a
/// QM engine, and then comes seconds too late.
class HostCopy {
 public:
  /// Asks for it.
  /// @throws RunError when StarPU refuses
  explicit HostCopy(const DataHandle& handle);
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  /// Waits for it.
  /// @throws RunError when a task before it has failed
  std::span<const double> data() const;

 private:
  static void take(void* copy);

  starpu_data_handle_t handle_;
  std::vector<double> values_;
  Arrival taken_;
};

}  // namespace starpmc
