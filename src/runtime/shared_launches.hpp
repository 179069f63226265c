#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/opencl/host/handles.hpp"
#include "kernels/opencl/host/operations.hpp"

namespace starpmc::codelets {

/// Windows of several chains on one device by launches that they share
/// (opencl::sample_windows_of_chains). StarPU gives a device's worker a chain's task after the
/// other; a thread of its own gathers them, and while the device makes the windows of some chains
/// the tasks of others come together. No task waits for one that has not come: where a chain is
/// elsewhere, in a QM calculation say, the others go without it.
class SharedLaunches {
 public:
  /// What opencl::sample_windows is told of a task.
  struct Task {
    std::uint32_t chain;
    opencl::Window window;
    std::vector<opencl::WindowTask> windows;
    opencl::Certification certification;
    opencl::WholeWindow whole;
  };

  /// @param worker that drives the device, for messages
  SharedLaunches(opencl::Program& program, cl_context context, int worker);
  /// No task is under way.
  ~SharedLaunches();
  SharedLaunches(const SharedLaunches&) = delete;
  SharedLaunches& operator=(const SharedLaunches&) = delete;

  /// Whether tasks of this kind are gathered: launches can be shared.
  bool takes(const Task& task) const;
  /// Returns at once; what is enqueued on `queue` from now on waits for the task's windows.
  void add(Task task, cl_command_queue queue);

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Task task;
    opencl::Owned<cl_event> done;  ///< told when its windows have been made
    Clock::time_point since;
  };
  /// Tasks that were enqueued together.
  struct Batch {
    SharedLaunches& owner;
    std::size_t lane;
    std::vector<Waiting> tasks;
    Clock::time_point begin = Clock::now();
    cl_int status = CL_COMPLETE;
  };

  void enqueue_batches();
  void end_batches();
  void wait_for_others(std::unique_lock<std::mutex>& lock);
  std::vector<Waiting> take_waiting();
  std::size_t chains_at_work() const;
  void enqueue(std::unique_ptr<Batch> batch);
  static void CL_CALLBACK has_ended(cl_event event, cl_int status, void* batch);

  opencl::Program& program_;
  const int worker_;
  struct Lane {
    opencl::Owned<cl_command_queue> queue;
    bool busy = false;
  };
  std::vector<Lane> lanes_;  ///< batches under way at a time: one goes while others are gathered
  std::mutex mutex_;         ///< of what follows, and of whether lanes are busy
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::deque<std::unique_ptr<Batch>> ended_;
  struct Chain {
    bool at_work = false;     ///< has a task that waits or is under way
    Clock::time_point since;  ///< it has none
  };
  std::map<std::uint32_t, Chain> chains_;
  Clock::time_point last_end_;  ///< of a batch
  Clock::duration patience_{};  ///< with tasks that have not come
  std::once_flag told_;
  bool ending_ = false;
  std::thread enqueuing_;
  std::thread telling_;
};

}  // namespace starpmc::codelets
