#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "base/checked_file.hpp"

namespace starpmc {

/// One task of a timeline; times since the start of the run.
struct TimelineTask {
  static constexpr std::int32_t kNone = -1;
  std::int64_t started_ns;
  std::int64_t ended_ns;
  std::int64_t window;  ///< kNone: of none
  std::int32_t chain;   ///< kNone: of none
  std::uint32_t codelet;
};
static_assert(sizeof(TimelineTask) == 32);

/// What stands before the tasks of one worker in a spool.
struct TimelineBlock {
  std::uint32_t worker;
  std::uint32_t tasks;
};

/// The tasks of a run while it goes on: a temporary file, so that memory is bounded whatever the
/// number of tasks. Blocks of tasks, each of one worker and in the order they started.
class TimelineSpool {
 public:
  static constexpr std::size_t kMostBuffered = 16384;

  /// @param path replaced if it exists
  /// @throws RunError if it cannot be written
  explicit TimelineSpool(const std::filesystem::path& path);
  /// Removes the file.
  ~TimelineSpool();
  TimelineSpool(const TimelineSpool&) = delete;
  TimelineSpool& operator=(const TimelineSpool&) = delete;

  /// By any thread. A failure is kept for close(), and nothing is written after it.
  void add(std::uint32_t worker, const TimelineTask& task) noexcept;
  /// Writes what is buffered; the file can be read from now on.
  /// @throws RunError what failed, now or before
  void close();
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Entry {
    std::uint32_t worker;
    TimelineTask task;
  };
  void write(std::vector<Entry>& entries);

  std::filesystem::path path_;
  std::mutex mutex_;  ///< of the buffer
  std::vector<Entry> buffer_;
  std::mutex file_mutex_;  ///< of what follows; taken before mutex_ is released
  std::vector<Entry> full_;
  CheckedFile file_;
  std::exception_ptr failure_;
};

}  // namespace starpmc
