#pragma once

#include <filesystem>
#include <optional>

#include "mpi/ranks.hpp"
#include "runtime/task_trace.hpp"

namespace starpmc {

/// The timeline of a run: every process records its tasks, rank 0 writes the files of all.
class RunTrace {
 public:
  /// Starts the recording. All ranks make it, and their clocks start together.
  /// @param folder of the output, which all ranks see
  RunTrace(Ranks& ranks, const std::filesystem::path& folder);

  /// timeline.csv, paje.trace and timeline.svg. A trace that cannot be written is a warning: the
  /// run's results count. All ranks call it when their tasks have ended.
  /// @param workers of this rank
  void write(const std::vector<TimelineWorker>& workers);

 private:
  std::vector<TimelinePart> gather(const std::vector<TimelineWorker>& workers);

  Ranks& ranks_;
  std::filesystem::path folder_;
  std::optional<TaskTrace> trace_;
};

/// Removes what an earlier session has left.
void remove_timeline(const std::filesystem::path& folder);

}  // namespace starpmc
