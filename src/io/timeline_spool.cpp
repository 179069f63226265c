#include "io/timeline_spool.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace starpmc {
namespace {

CheckedFile open_anew(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return {path, CheckedFile::Mode::create_new};
}

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

TimelineSpool::TimelineSpool(const std::filesystem::path& path)
    : path_(path), file_(open_anew(path)) {
  buffer_.reserve(kMostBuffered);
  full_.reserve(kMostBuffered);
}

TimelineSpool::~TimelineSpool() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

/// Whoever fills the buffer writes it while the others fill the next; they wait where the disk is
/// slower than they are.
void TimelineSpool::add(std::uint32_t worker, const TimelineTask& task) noexcept {
  std::unique_lock lock(mutex_);
  buffer_.push_back({worker, task});  // there is room: nothing is allocated
  if (buffer_.size() < kMostBuffered) return;
  const std::lock_guard file_lock(file_mutex_);
  std::swap(buffer_, full_);
  lock.unlock();
  write(full_);
}

void TimelineSpool::write(std::vector<Entry>& entries) {
  try {
    std::ranges::sort(entries, {}, [](const Entry& entry) {
      return std::tuple(entry.worker, entry.task.started_ns, entry.task.ended_ns);
    });
    for (auto first = entries.begin(); first != entries.end() && failure_ == nullptr;) {
      const auto last = std::find_if(
          first, entries.end(), [&](const Entry& entry) { return entry.worker != first->worker; });
      file_.write(bytes_of(TimelineBlock{first->worker, static_cast<std::uint32_t>(last - first)}));
      for (; first != last; ++first) file_.write(bytes_of(first->task));
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  entries.clear();
}

void TimelineSpool::close() {
  const std::scoped_lock lock(mutex_, file_mutex_);
  write(buffer_);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  file_.close();
}

}  // namespace starpmc
