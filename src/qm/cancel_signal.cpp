#include "qm/cancel_signal.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "kernels/base/error.hpp"

namespace starpmc {

CancelSignal::CancelSignal() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_.get() < 0) {
    throw RunError(fmt::format("no event descriptor for the QM worker: {}", std::strerror(errno)));
  }
}

void CancelSignal::raise() noexcept {
  if (raised_.exchange(true)) return;
  const std::uint64_t one = 1;
  // Fails only when the counter is full, which one write cannot do.
  [[maybe_unused]] const ssize_t written = write(event_.get(), &one, sizeof(one));
}

}  // namespace starpmc
