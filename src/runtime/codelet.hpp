#pragma once

#include <starpu.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/taken_workers.hpp"
#include "runtime/task_display.hpp"
#include "runtime/task_history.hpp"
#include "runtime/task_label.hpp"

/// What every codelet shares: its implementations, its performance model, and its submission.
namespace starpmc::codelets {

/// Which implementations tasks may use.
enum class Allowed { any, scalar, simd, opencl };
inline constexpr int kAnyWorker = -1;
/// @param worker the only worker that gets tasks, for benchmarks
void allow(Allowed implementations, int worker = kAnyWorker);
Allowed allowed();

/// Tells the user's pair functions from others: part of the names of codelets and of their
/// performance models, and the key of the OpenCL kernels. Set while no task is under way; empty:
/// none.
void set_potential_hash(std::string hash);
const std::string& potential_hash();
/// A name with the hash behind it, where there is one.
std::string with_potential_hash(std::string name);

/// Order of a codelet's CPU implementations: schedulers without a model take the first.
enum CpuImplementation : unsigned { kSimd = 0, kScalar = 1 };
/// Slots of the statistics: the CPU implementations, then OpenCL.
enum ImplementationSlot : unsigned { kSimdSlot = 0, kScalarSlot = 1, kOpenclSlot = 2, kSlots = 3 };
const char* implementation_name(unsigned slot);

/// A data handle and how a task uses it.
struct Access {
  starpu_data_handle_t handle;
  starpu_data_access_mode mode;
};

/// Tasks run so far, by implementation and worker.
struct Statistics {
  void clear();
  struct Counter {
    std::atomic<std::uint64_t> tasks{0};
    std::atomic<std::uint64_t> nanoseconds{0};
  };
  std::array<std::array<Counter, STARPU_NMAXWORKERS>, kSlots> counters;
  /// Tasks of each amount of work (work_bucket).
  std::array<std::atomic<std::uint64_t>, Durations::kBuckets> sizes{};
};

/// First member of every codelet's arguments: how much work the task is, so that the history of
/// timings is keyed by it and not by the sizes of buffers of fixed capacity.
struct TaskArguments {
  std::uint32_t work_bucket = 0;
  /// The one to run it. Not StarPU's execute_on_a_specific_worker: such tasks overtake those in the
  /// worker's queue, which would wait as long as this one takes.
  int worker = kAnyWorker;
  TaskLabel label{};  ///< set at submission
  Refusals refusals{};
};
inline TaskArguments& arguments_of_task(const starpu_task* task) {
  return *static_cast<TaskArguments*>(task->cl_arg);
}
/// Tells apart tasks of different sizes, for StarPU's models and traces.
inline std::uint32_t footprint(starpu_task* task) { return arguments_of_task(task).work_bucket; }

/// By which implementation of its kind's a worker may run tasks of codelets that have all; none: it
/// may not.
std::optional<unsigned> implementation_on(int worker);
/// Those that may.
std::vector<int> workers_with_all();

/// Expected durations of a task of any codelet with all implementations, on each worker that may
/// run it; NaN where none of its size or another has been measured.
/// @param symbol of the codelet's performance model
/// @param work   as the codelet counts it
std::vector<double> expected_milliseconds(const std::string& symbol, double work);
/// The same; NaN, too, where the work is not between sizes that have been measured.
std::vector<double> measured_milliseconds(const std::string& symbol, double work);

/// A starpu_codelet with its performance model; lives until the program ends.
class Codelet {
 public:
  using Function = starpu_cpu_func_t;
  struct Implementations {
    Function simd = nullptr;
    Function scalar = nullptr;
    Function opencl = nullptr;
  };
  /// @param name operation and precision: also the symbol of the performance model
  Codelet(std::string name, Implementations implementations);
  Codelet(const Codelet&) = delete;
  Codelet& operator=(const Codelet&) = delete;

  /// Submits a task; `arguments` (plain data) are copied.
  template <class Arguments>
  void submit(std::span<const Access> accesses, const Arguments& arguments) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    static_assert(std::is_base_of_v<TaskArguments, Arguments>);
    submit_copy(accesses, &arguments, sizeof(Arguments));
  }

  const std::string& name() const { return name_; }
  bool has_opencl() const { return codelet_.opencl_funcs[0] != nullptr; }
  const TaskDisplay& display() const { return display_; }
  const Statistics& statistics() const { return statistics_; }
  /// Every codelet made so far.
  static std::vector<const Codelet*> all();
  /// Statistics of all begin anew: with another session of StarPU, whose workers are others.
  static void forget_statistics();

 private:
  void submit_copy(std::span<const Access> accesses, const void* arguments, std::size_t size);
  static double expected_microseconds(starpu_task* task, starpu_perfmodel_arch* arch,
                                      unsigned implementation);
  static void count(void* codelet);

  std::string name_;
  TaskDisplay display_;
  std::size_t index_ = 0;  ///< in the registry
  TaskHistory& history_;
  starpu_perfmodel model_{};
  starpu_codelet codelet_{};
  Statistics statistics_;
};

/// The codelet of an operation for the potential in use: a name and a history of timings of its own
/// for each potential. Lives until the program ends.
class PotentialCodelet {
 public:
  /// @param name without the potential's hash
  PotentialCodelet(std::string name, Codelet::Implementations implementations);

  template <class Arguments>
  void submit(std::span<const Access> accesses, const Arguments& arguments) {
    current_->submit(accesses, arguments);
  }
  const std::string& name() { return current_->name(); }

 private:
  friend void set_potential_hash(std::string hash);
  /// The codelet of potential_hash(), while no task is under way.
  void choose();

  std::string name_;
  Codelet::Implementations implementations_;
  Codelet* current_ = nullptr;
};

/// Arguments of the task that runs.
template <class Arguments>
const Arguments& arguments_of(void* argument) {
  return *static_cast<const Arguments*>(argument);
}

/// A vector buffer in main memory.
template <class T>
std::span<T> span_of(void* buffer) {
  return {reinterpret_cast<T*>(STARPU_VECTOR_GET_PTR(buffer)), STARPU_VECTOR_GET_NX(buffer)};
}

/// Failures inside tasks: StarPU's C callbacks cannot let an exception through. The first message
/// is kept; the host looks for it wherever it waits.
void report_failure(const std::string& what) noexcept;
/// The same of the task that runs on this thread. Where an OpenCL device runs it, whoever waits for
/// that is told first (on_device_failure()).
void report_task_failure(const std::string& what) noexcept;
/// Where a device runs the task at whose end this thread is: finish_single_task().
void finish_task_of_device();
/// While it lives a task's function runs on this thread; counted where a device runs it
/// (DeviceWatch).
class TaskFunction {
 public:
  TaskFunction() noexcept;
  TaskFunction(const TaskFunction&) = delete;
  TaskFunction& operator=(const TaskFunction&) = delete;
  ~TaskFunction();

 private:
  int device_worker_;  ///< negative: no device runs it
};
bool failed() noexcept;
/// @throws RunError when a task has failed
void throw_if_failed();
void clear_failure() noexcept;

/// Runs a task's body; an exception becomes a reported failure.
template <class Body>
void guarded(const char* name, Body&& body) noexcept {
  const TaskFunction function;
  if (failed()) return;  // the run ends anyway: do not work on garbage
  try {
    body();
    finish_task_of_device();
  } catch (const std::exception& error) {
    report_task_failure(std::string(name) + ": " + error.what());
  }
}

}  // namespace starpmc::codelets
