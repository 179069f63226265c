#include "qm/worker_log.hpp"

#include <fmt/format.h>

#include "kernels/base/shown_text.hpp"

namespace starpmc {

void WorkerLog::append(std::string_view bytes) {
  bytes_ += bytes;
  if (bytes_.size() <= kMostBytes) return;
  // Half of it, so that not every line of a flood moves the rest.
  const std::size_t excess = bytes_.size() - kMostBytes / 2;
  bytes_.erase(0, excess);
  dropped_ += excess;
}

std::string WorkerLog::text() const {
  std::string kept = shown_text(bytes_, "\n\t");
  if (dropped_ == 0) return kept;
  return fmt::format("[{} bytes before this are left out]\n{}", dropped_, kept);
}

std::string WorkerLog::last_lines() const {
  constexpr std::size_t kLines = 20;
  constexpr std::size_t kBytes = 8192;
  std::string_view end = bytes_;
  if (end.size() > kBytes) end.remove_prefix(end.size() - kBytes);
  while (end.ends_with('\n')) end.remove_suffix(1);
  std::size_t start = end.size();
  for (std::size_t line = 0; line < kLines && start > 0 && start != end.npos; ++line) {
    start = end.rfind('\n', start - 1);
  }
  return shown_text(start == end.npos || start == 0 ? end : end.substr(start + 1), "\n\t");
}

}  // namespace starpmc
