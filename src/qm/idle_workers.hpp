#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "qm/worker_process.hpp"

namespace starpmc {

/// What a worker says of itself.
struct WorkerVersion {
  std::string name;                              ///< "pyscf", ...
  std::string version;                           ///< of the QM program
  std::map<std::string, std::string> libraries;  ///< that it may use, and their versions
};

/// What has to be the same of workers that can stand in for each other.
struct WorkerKind {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  unsigned device_number = 0;  ///< of the GPU that it has begun to use

  bool operator==(const WorkerKind&) const = default;
};

/// A worker's process, and what it has said.
struct StartedWorker {
  std::unique_ptr<WorkerProcess> process;
  WorkerVersion version;
};

/// Workers that have done what they were started for, kept for calculations of other molecules: a
/// QM program takes a second to start, and several where a GPU's libraries belong to it. From all
/// threads. Processes are started by a thread of this object, for the kernel ties them to it: so
/// each may serve several threads, one after the other.
class IdleWorkers {
 public:
  IdleWorkers();
  /// Those that are idle end.
  ~IdleWorkers();
  IdleWorkers(const IdleWorkers&) = delete;
  IdleWorkers& operator=(const IdleWorkers&) = delete;

  /// One of this kind that is alive, which heeds `cancel` from now on; without a process: there is
  /// none.
  StartedWorker take(const WorkerKind& kind, const std::shared_ptr<const CancelSignal>& cancel);
  /// Starts one. Throws as WorkerProcess does.
  std::unique_ptr<WorkerProcess> start(const WorkerKind& kind,
                                       std::shared_ptr<const CancelSignal> cancel);
  /// For the next. One that is not fit to be used again ends.
  void give(const WorkerKind& kind, StartedWorker worker);
  /// Those that can be taken for device numbers [first, end).
  std::size_t count(unsigned first = 0, unsigned end = std::numeric_limits<unsigned>::max()) const;
  /// They end.
  void clear();

 private:
  class Starter;
  struct Idle {
    WorkerKind kind;
    StartedWorker worker;
  };

  mutable std::mutex mutex_;
  std::deque<Idle> idle_;
  std::unique_ptr<Starter> starter_;  ///< first to be made, last to end
};

}  // namespace starpmc
