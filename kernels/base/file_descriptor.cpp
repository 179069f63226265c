#include "kernels/base/file_descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace starpmc {

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void FileDescriptor::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t part = ::write(file, bytes.data(), bytes.size());
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(part));
  }
  return true;
}

}  // namespace starpmc
