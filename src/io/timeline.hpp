#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/timeline_spool.hpp"

namespace starpmc {

/// How a codelet is shown.
struct TimelineCodelet {
  std::string codelet;  ///< as in summary.json
  std::string name;     ///< for people
  unsigned colour = 0;  ///< 0xRRGGBB

  friend bool operator==(const TimelineCodelet&, const TimelineCodelet&) = default;
};

struct TimelineWorker {
  int id = 0;        ///< StarPU's, within its process
  std::string name;  ///< as in summary.json
};

/// What one process has recorded.
struct TimelinePart {
  std::filesystem::path spool;
  std::int64_t end_ns = 0;  ///< when recording ended
  std::vector<TimelineWorker> workers;
  std::vector<TimelineCodelet> codelets;  ///< by TimelineTask::codelet

  nlohmann::json state() const;
  static TimelinePart from(const nlohmann::json& state);
};

/// All tasks of all workers of a run, read from the processes' spools part by part: memory goes
/// with the number of workers, not of tasks.
class Timeline {
 public:
  struct Visit {
    std::size_t worker;   ///< in workers()
    std::size_t codelet;  ///< in codelets()
    TimelineTask task;
    /// The same times for a picture, where a worker does one thing after another: a task that
    /// overlaps the one before on a device begins when that has ended.
    std::int64_t shown_start_ns;
    std::int64_t shown_end_ns;
  };

  /// @throws RunError if a spool cannot be read or is cut short
  explicit Timeline(const std::vector<TimelinePart>& parts);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  const std::vector<TimelineWorker>& workers() const { return workers_; }
  const std::vector<TimelineCodelet>& codelets() const { return codelets_; }
  std::int64_t end_ns() const { return end_ns_; }
  /// In the order of shown_start_ns.
  void for_each(const std::function<void(const Visit&)>& visit) const;

 private:
  class SpoolFile;
  class Cursor;

  std::vector<TimelineWorker> workers_;
  std::vector<TimelineCodelet> codelets_;
  std::int64_t end_ns_ = 0;
  std::vector<std::unique_ptr<SpoolFile>> files_;
};

/// timeline.csv, paje.trace and timeline.svg; each is there whole or not at all.
/// @throws RunError naming the file and the system's reason
void write_timeline_csv(const Timeline& timeline, const std::filesystem::path& path);
/// Paje's self-defining format: a container for each worker, a state for each codelet.
void write_paje_trace(const Timeline& timeline, const std::filesystem::path& path);
/// A lane for each worker. Tasks narrower than a few pixels are drawn together, column by column,
/// each codelet as high as its share of the column's time: at most some megabytes, however many
/// tasks.
void write_timeline_svg(const Timeline& timeline, const std::filesystem::path& path);

/// Calls `write` with a temporary file that then gets the name `path`.
void write_long_file_atomically(const std::filesystem::path& path,
                                const std::function<void(CheckedFile&)>& write);

}  // namespace starpmc
