#include "runtime/shared_launches.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "runtime/codelet.hpp"
#include "runtime/device_failure.hpp"

namespace starpmc::codelets {
namespace {

constexpr std::size_t kLanes = 2;
/// Of what the last batch has taken: so long one may wait for others without a loss that counts.
constexpr int kPatience = 8;
/// A chain without a task for longer is elsewhere.
constexpr std::chrono::milliseconds kMemory{20};

opencl::ChainWindows view_of(const SharedLaunches::Task& task) {
  return {task.window, task.windows, task.certification, task.whole};
}

}  // namespace

SharedLaunches::SharedLaunches(opencl::Program& program, cl_context context, int worker)
    : program_(program), worker_(worker) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    cl_int error = CL_SUCCESS;
    lanes_.push_back({opencl::Owned<cl_command_queue>(
                          clCreateCommandQueue(context, program.device(), 0, &error)),
                      false});
    opencl::check(error, "clCreateCommandQueue");
  }
  program_.prepare_for_chains();
  enqueuing_ = std::thread([this] { enqueue_batches(); });
  telling_ = std::thread([this] { end_batches(); });
}

SharedLaunches::~SharedLaunches() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  enqueuing_.join();
  telling_.join();
}

bool SharedLaunches::takes(const Task& task) const {
  const opencl::ChainWindows windows = view_of(task);
  return opencl::can_share_launches(program_, windows, windows);
}

void SharedLaunches::add(Task task, cl_command_queue queue) {
  cl_context context = nullptr;
  opencl::check(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr),
                "clGetCommandQueueInfo");
  cl_int error = CL_SUCCESS;
  opencl::Owned<cl_event> done(clCreateUserEvent(context, &error));
  opencl::check(error, "clCreateUserEvent");
  const cl_event event = done.get();
  opencl::check(clEnqueueBarrierWithWaitList(queue, 1, &event, nullptr),
                "clEnqueueBarrierWithWaitList");
  {
    const std::lock_guard lock(mutex_);
    chains_[task.chain].at_work = true;
    waiting_.push_back({std::move(task), std::move(done), Clock::now()});
  }
  changed_.notify_all();
}

std::size_t SharedLaunches::chains_at_work() const {
  const auto recently = Clock::now() - kMemory;
  return static_cast<std::size_t>(std::ranges::count_if(chains_, [&](const auto& entry) {
    return entry.second.at_work || entry.second.since > recently;
  }));
}

/// Until a lane's share of the chains has come. Those whose windows have just ended take a moment
/// to come again.
void SharedLaunches::wait_for_others(std::unique_lock<std::mutex>& lock) {
  const auto until = std::max(waiting_.front().since, last_end_) + patience_;
  changed_.wait_until(
      lock, until, [&] { return ending_ || waiting_.size() * lanes_.size() >= chains_at_work(); });
}

/// The first, and all that can share launches with it.
std::vector<SharedLaunches::Waiting> SharedLaunches::take_waiting() {
  std::vector<Waiting> taken;
  taken.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (opencl::can_share_launches(program_, view_of(taken.front().task), view_of(at->task))) {
      taken.push_back(std::move(*at));
      at = waiting_.erase(at);
    } else {
      ++at;
    }
  }
  return taken;
}

void SharedLaunches::enqueue_batches() {
  std::unique_lock lock(mutex_);
  const auto free_lane = [&] { return std::ranges::find(lanes_, false, &Lane::busy); };
  for (;;) {
    changed_.wait(lock,
                  [&] { return ending_ || (!waiting_.empty() && free_lane() != lanes_.end()); });
    if (ending_) return;
    wait_for_others(lock);
    const auto lane = free_lane();
    lane->busy = true;
    auto batch = std::make_unique<Batch>(
        Batch{*this, static_cast<std::size_t>(lane - lanes_.begin()), take_waiting()});
    lock.unlock();
    enqueue(std::move(batch));
    lock.lock();
  }
}

void SharedLaunches::enqueue(std::unique_ptr<Batch> batch) {
  const cl_command_queue queue = lanes_[batch->lane].queue.get();
  try {
    std::vector<opencl::ChainWindows> chains;
    for (const Waiting& one : batch->tasks) chains.push_back(view_of(one.task));
    if (chains.size() == 1) {
      const opencl::ChainWindows& one = chains.front();
      opencl::sample_windows(program_, queue, one.window, one.tasks, one.certification, one.whole);
    } else {
      opencl::sample_windows_of_chains(program_, queue, chains);
      std::call_once(told_, [&] {
        spdlog::info("{}: windows of several chains share launches", worker_name(worker_));
      });
    }
    cl_event end = nullptr;
    opencl::check(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &end),
                  "clEnqueueMarkerWithWaitList");
    const opencl::Owned<cl_event> marker(end);
    opencl::check(clSetEventCallback(end, CL_COMPLETE, has_ended, batch.get()),
                  "clSetEventCallback");
    static_cast<void>(batch.release());  // has_ended()'s from here on
    opencl::check(clFlush(queue), "clFlush");
  } catch (const std::exception& error) {
    const std::string what = std::string("sample_windows: ") + error.what();
    tell_device_failure(worker_, what);
    report_failure(what);
    if (batch != nullptr) has_ended(nullptr, CL_COMPLETE, batch.release());
  }
}

void CL_CALLBACK SharedLaunches::has_ended(cl_event /*event*/, cl_int status, void* batch) {
  std::unique_ptr<Batch> ended(static_cast<Batch*>(batch));
  SharedLaunches& owner = ended->owner;
  ended->status = std::min(status, CL_COMPLETE);  // errors are negative
  // Told under the lock: with it whoever ends all this may go on.
  const std::lock_guard lock(owner.mutex_);
  owner.ended_.push_back(std::move(ended));
  owner.changed_.notify_all();
}

/// By a thread of its own: a driver's callback had better not ask for anything, and the other
/// thread may be enqueuing.
void SharedLaunches::end_batches() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !ended_.empty(); });
    if (ended_.empty()) return;
    const std::unique_ptr<Batch> batch = std::move(ended_.front());
    ended_.pop_front();
    lanes_[batch->lane].busy = false;
    last_end_ = Clock::now();
    patience_ = (last_end_ - batch->begin) / kPatience;
    for (const Waiting& one : batch->tasks) chains_[one.task.chain] = {false, last_end_};
    changed_.notify_all();
    lock.unlock();
    for (const Waiting& one : batch->tasks) clSetUserEventStatus(one.done.get(), batch->status);
    lock.lock();
  }
}

}  // namespace starpmc::codelets
