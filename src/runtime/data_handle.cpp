#include "runtime/data_handle.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/base/error.hpp"
#include "kernels/precision.hpp"
#include "runtime/codelet.hpp"

namespace starpmc {

DataHandle::DataHandle(int home, const void* data, std::size_t size, std::size_t element_size)
    : temporary_(home < 0) {
  starpu_vector_data_register(&handle_, home, reinterpret_cast<std::uintptr_t>(data),
                              static_cast<std::uint32_t>(size), element_size);
}

void DataHandle::reset() noexcept {
  if (handle_ == nullptr) return;
  if (temporary_) {
    starpu_data_unregister_no_coherency(handle_);
  } else {
    starpu_data_unregister(handle_);
  }
  handle_ = nullptr;
}

namespace {

/// @param place where data were to be brought
void require(int status, const char* place) {
  if (status == 0) return;
  throw RunError(std::string("StarPU could not bring data to ") + place + ": " +
                 std::strerror(-status));
}

/// Has StarPU call `then` with `argument` once the data are in a memory, on whichever thread brings
/// them.
void acquire(starpu_data_handle_t handle, int node, starpu_data_access_mode mode,
             void (*then)(void*), void* argument) {
  const char* const place = node == STARPU_MAIN_RAM ? "the host" : "a device";
#ifdef STARPU_SIMGRID
  // The simulated time does not go on while a thread of the system's waits.
  require(starpu_data_acquire_on_node(handle, node, mode), place);
  then(argument);
#else
  require(starpu_data_acquire_on_node_cb(handle, node, mode, then, argument), place);
#endif
}

void tell_arrival(void* arrival) { static_cast<Arrival*>(arrival)->tell(); }

}  // namespace

void DataHandle::bring_to_devices() const {
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    const int worker = static_cast<int>(id);
    if (starpu_worker_get_type(worker) != STARPU_OPENCL_WORKER) continue;
    if (!codelets::implementation_on(worker)) continue;
    constexpr unsigned kWithoutWaiting = 1;
    require(
        starpu_data_prefetch_on_node(handle_, starpu_worker_get_memory_node(id), kWithoutWaiting),
        "a device");
  }
}

void DataHandle::leave_to_device(int worker, starpu_data_access_mode mode) const {
  const int node = static_cast<int>(starpu_worker_get_memory_node(static_cast<unsigned>(worker)));
  Arrival brought;
  require(starpu_data_acquire_on_node_cb(
              handle_, node, mode, [](void* arrival) { static_cast<Arrival*>(arrival)->tell(); },
              &brought),
          "a device");
  brought.wait();
  starpu_data_release_on_node(handle_, node);
  codelets::throw_if_failed();
}

void Arrival::tell() {
  const std::lock_guard lock(mutex_);
  told_ = true;
  changed_.notify_all();  // with the lock held: who waits may be gone as soon as it is not
}

void Arrival::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return told_; });
}

// Not starpu_data_acquire(): it spins until the data have come, and takes locks all the while that
// the device's worker needs to bring them. Chains that waited so made half as many steps where
// there were fewer cores than chains (src/sampling/README.md).
template <class T>
HostAccess<T>::HostAccess(const DataHandle& handle, starpu_data_access_mode mode)
    : handle_(handle.get()) {
  Arrival brought;
  acquire(handle_, STARPU_MAIN_RAM, mode, tell_arrival, &brought);
  brought.wait();
  if (codelets::failed()) {
    release();
    codelets::throw_if_failed();
  }
  data_ = {reinterpret_cast<T*>(starpu_vector_get_local_ptr(handle_)),
           starpu_vector_get_nx(handle_)};
}

HostCopy::HostCopy(const DataHandle& handle)
    : handle_(handle.get()), values_(starpu_vector_get_nx(handle_)) {
  acquire(handle_, STARPU_MAIN_RAM, STARPU_R, &HostCopy::take, this);
}

HostCopy::~HostCopy() { taken_.wait(); }

/// On whichever thread has brought the data.
void HostCopy::take(void* copy) {
  auto& self = *static_cast<HostCopy*>(copy);
  const auto* const data =
      static_cast<const double*>(starpu_data_handle_to_pointer(self.handle_, STARPU_MAIN_RAM));
  std::copy_n(data, self.values_.size(), self.values_.begin());
  starpu_data_release_on_node(self.handle_, STARPU_MAIN_RAM);
  self.taken_.tell();
}

std::span<const double> HostCopy::data() const {
  taken_.wait();
  codelets::throw_if_failed();
  return values_;
}

template class HostAccess<double>;
template class HostAccess<float>;
template class HostAccess<int>;
template class HostAccess<std::int64_t>;
template class HostAccess<FixedCoordinate>;

}  // namespace starpmc
