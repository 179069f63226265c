#include "runtime/codelet.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>

#include "kernels/base/error.hpp"
#include "runtime/device_failure.hpp"
#include "runtime/device_pace.hpp"
#include "runtime/opencl_programs.hpp"
#include "runtime/queued_tasks.hpp"
#include "runtime/taken_workers.hpp"
#include "runtime/task_gaps.hpp"
#include "runtime/task_recording.hpp"

namespace starpmc::codelets {
namespace {

/// Whether StarPU is one with SimGrid, where a duration is the model's own and teaches nothing.
#ifdef STARPU_SIMGRID
constexpr bool kSimulated = true;
#else
constexpr bool kSimulated = false;
#endif

std::atomic<Allowed> allowed_implementations{Allowed::any};
std::atomic<int> allowed_worker{kAnyWorker};

std::string& hash_of_potential() {
  static std::string hash;
  return hash;
}

std::mutex registry_mutex;
std::vector<Codelet*>& registry() {
  static std::vector<Codelet*> codelets;
  return codelets;
}

/// The codelets of operations that depend on the potential, and theirs of each potential so far.
std::mutex potentials_mutex;
std::vector<PotentialCodelet*>& potential_operations() {
  static std::vector<PotentialCodelet*> operations;
  return operations;
}
std::deque<Codelet>& potential_codelets() {
  static std::deque<Codelet> codelets;
  return codelets;
}

std::mutex failure_mutex;
std::string failure_text;
std::atomic<bool> failure_reported{false};

bool allows(Allowed wanted) {
  const Allowed allowed = allowed_implementations.load();
  return allowed == Allowed::any || allowed == wanted;
}

bool is_placed(const starpu_task* task) { return arguments_of_task(task).worker != kAnyWorker; }

bool any_opencl_worker() {
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    const int worker = static_cast<int>(id);
    if (starpu_worker_get_type(worker) == STARPU_OPENCL_WORKER &&
        has_opencl_program(starpu_worker_get_devid(worker))) {
      return true;
    }
  }
  return false;
}

bool is_allowed_on_cpu(const starpu_codelet& codelet, unsigned implementation) {
  // A codelet with no OpenCL implementation runs on CPUs whatever is allowed.
  if (codelet.opencl_funcs[0] == nullptr) return true;
  // The plain kernels are the reference, and never the faster ones: timing them for the models'
  // sake could take longer than a run. They work where they are asked for, or are the only ones.
  const bool has_simd = codelet.cpu_funcs[1] != nullptr;
  if (implementation == kScalar) return allowed() == Allowed::scalar;
  return allows(Allowed::simd) || !has_simd;
}

/// Whether a CPU worker refuses a task that had better go to another one.
bool is_refused(int worker, const starpu_task* task) {
  if (is_placed(task)) return false;
  Refusals& refusals = arguments_of_task(task).refusals;
  if (!is_taken(worker)) {
    refusals.accept(worker);
    return false;
  }
  // A device says yes whatever the others say.
  if (task->cl->opencl_funcs[0] != nullptr && allows(Allowed::opencl) && any_opencl_worker()) {
    return true;
  }
  return !all_cpu_workers_taken() && refusals.refuse(worker);
}

int can_execute(unsigned worker, starpu_task* task, unsigned implementation) {
  const int only = allowed_worker.load();
  if (only != kAnyWorker && static_cast<int>(worker) != only) return 0;
  const int wanted = arguments_of_task(task).worker;
  if (wanted != kAnyWorker && static_cast<int>(worker) != wanted) return 0;
  if (starpu_worker_get_type(static_cast<int>(worker)) == STARPU_OPENCL_WORKER) {
    return static_cast<int>(implementation == 0 && allows(Allowed::opencl) &&
                            has_opencl_program(starpu_worker_get_devid(static_cast<int>(worker))));
  }
  // The refusals count only what would be accepted otherwise: ask last.
  return static_cast<int>(is_allowed_on_cpu(*task->cl, implementation) &&
                          (only != kAnyWorker || !is_refused(static_cast<int>(worker), task)));
}

/// What function(worker, implementation) says of each worker that may run tasks.
template <class Function>
std::vector<double> on_each_worker(Function function) {
  std::vector<double> values;
  for (const int worker : workers_with_all()) {
    values.push_back(function(worker, *implementation_on(worker)));
  }
  return values;
}

/// StarPU's own traces tell chain and window as iteration and subiteration. Names of their own for
/// tasks would be states of their own there, ten lines each.
class TracedIteration {
 public:
  explicit TracedIteration(const TaskLabel& label) {
#ifdef STARPU_USE_FXT
    static const bool traced = starpu_fxt_is_enabled() != 0;  // it asks the environment
#else
    constexpr bool traced = false;
#endif
    if (!traced) return;
    lock_ = std::unique_lock(mutex());  // StarPU has one stack of them for all threads
    for (const std::int64_t number : {std::int64_t{label.chain}, label.window}) {
      if (number == TaskLabel::kNone) break;
      starpu_iteration_push(static_cast<unsigned long>(number));
      ++pushed_;
    }
  }
  ~TracedIteration() {
    for (; pushed_ > 0; --pushed_) starpu_iteration_pop();
  }
  TracedIteration(const TracedIteration&) = delete;
  TracedIteration& operator=(const TracedIteration&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex of_stack;
    return of_stack;
  }
  std::unique_lock<std::mutex> lock_;
  int pushed_ = 0;
};

}  // namespace

std::optional<unsigned> implementation_on(int worker) {
  const int only = allowed_worker.load();
  if (only != kAnyWorker && worker != only) return {};
  if (starpu_worker_get_type(worker) == STARPU_OPENCL_WORKER) {
    if (!allows(Allowed::opencl) || !has_opencl_program(starpu_worker_get_devid(worker))) return {};
    return 0;
  }
  if (allowed() == Allowed::opencl) return {};
  return allowed() == Allowed::scalar ? kScalar : kSimd;
}

std::vector<int> workers_with_all() {
  std::vector<int> workers;
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    if (implementation_on(static_cast<int>(id))) workers.push_back(static_cast<int>(id));
  }
  return workers;
}

void allow(Allowed implementations, int worker) {
  allowed_implementations = implementations;
  allowed_worker = worker;
}
Allowed allowed() { return allowed_implementations; }

void set_potential_hash(std::string hash) {
  const std::lock_guard lock(potentials_mutex);
  hash_of_potential() = std::move(hash);
  for (PotentialCodelet* const operation : potential_operations()) operation->choose();
}
const std::string& potential_hash() { return hash_of_potential(); }
std::string with_potential_hash(std::string name) {
  const std::string& hash = potential_hash();
  return hash.empty() ? name : std::move(name) + "_" + hash;
}

const char* implementation_name(unsigned slot) {
  constexpr const char* kNames[] = {"simd", "scalar", "opencl"};
  return kNames[slot];
}

std::vector<double> expected_milliseconds(const std::string& symbol, double work) {
  return on_each_worker([&](int worker, unsigned implementation) {
    return TaskHistory::of(symbol).estimate(worker, implementation, work) * 1e-3;
  });
}

std::vector<double> measured_milliseconds(const std::string& symbol, double work) {
  return on_each_worker([&](int worker, unsigned implementation) {
    return TaskHistory::of(symbol).interpolate(worker, implementation, work) * 1e-3;
  });
}

Codelet::Codelet(std::string name, Implementations implementations)
    : name_(std::move(name)), display_(task_display(name_)), history_(TaskHistory::of(name_)) {
  starpu_codelet_init(&codelet_);
  codelet_.name = name_.c_str();
  codelet_.color = display_.colour;
  unsigned cpu = 0;
  for (const Function function : {implementations.simd, implementations.scalar}) {
    if (function != nullptr) codelet_.cpu_funcs[cpu++] = function;
  }
  if (implementations.opencl != nullptr) {
    codelet_.opencl_funcs[0] = implementations.opencl;
    codelet_.opencl_flags[0] = STARPU_OPENCL_ASYNC;
  }
  codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
  codelet_.can_execute = can_execute;
  // What has one implementation only is no kernel (a QM update): its body runs under SimGrid, too,
  // and tells how long it takes.
  if (cpu == 1 && implementations.opencl == nullptr) {
    codelet_.flags |= STARPU_CODELET_SIMGRID_EXECUTE;
  }
  model_.type = STARPU_PER_ARCH;
  model_.symbol = name_.c_str();
  model_.arch_cost_function = expected_microseconds;
  model_.footprint = footprint;  // for traces
  codelet_.model = &model_;
  const std::lock_guard lock(registry_mutex);
  index_ = registry().size();
  registry().push_back(this);
}

std::vector<const Codelet*> Codelet::all() {
  const std::lock_guard lock(registry_mutex);
  return {registry().begin(), registry().end()};
}

void Statistics::clear() {
  for (auto& slot : counters) {
    for (Counter& counter : slot) {
      counter.tasks = 0;
      counter.nanoseconds = 0;
    }
  }
  for (auto& tasks : sizes) tasks = 0;
}

void Codelet::forget_statistics() {
  const std::lock_guard lock(registry_mutex);
  for (Codelet* codelet : registry()) codelet->statistics_.clear();
}

void Codelet::submit_copy(std::span<const Access> accesses, const void* arguments,
                          std::size_t size) {
  starpu_task* const task = starpu_task_create();
  task->cl = &codelet_;
  task->name = name_.c_str();
  task->nbuffers = static_cast<int>(accesses.size());
  // More buffers than the library was built for (8 in some packages) need the dynamic arrays.
  if (accesses.size() > STARPU_NMAXBUFS) {
    task->dyn_handles =
        static_cast<starpu_data_handle_t*>(std::malloc(accesses.size() * sizeof(task->handles[0])));
    task->dyn_modes = static_cast<starpu_data_access_mode*>(
        std::malloc(accesses.size() * sizeof(task->modes[0])));
    if (task->dyn_handles == nullptr || task->dyn_modes == nullptr) throw std::bad_alloc();
  }
  const QueuedTasks* const queued = QueuedTasks::current();
  int index = 0;
  for (const Access& access : accesses) {
    STARPU_TASK_SET_HANDLE(task, access.handle, index);
    const starpu_data_access_mode mode = queued == nullptr ? access.mode : queued->mode(access);
    STARPU_TASK_SET_MODE(task, mode, index);
    ++index;
  }
  const TaskLabel label = LabelledTasks::current();
  void* const copy = std::malloc(size);  // StarPU frees it
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, arguments, size);
  static_cast<TaskArguments*>(copy)->label = label;
  if (queued != nullptr) static_cast<TaskArguments*>(copy)->worker = queued->worker();
  task->cl_arg = copy;
  task->cl_arg_size = size;
  task->cl_arg_free = 1;
  task->callback_func = count;
  task->callback_arg = this;
  const TracedIteration iteration(label);
  TaskGaps::of_process().task_submitted();
  const int status = starpu_task_submit(task);
  if (status != 0) {
    TaskGaps::of_process().task_ended();
    task->destroy = 0;
    starpu_task_destroy(task);
    throw RunError("StarPU has no worker for " + name_ + " (" + std::strerror(-status) +
                   "): the implementations asked for need a device that is missing; see `starpmc "
                   "info`, STARPU_NCPU, STARPU_NOPENCL and --run.implementation");
  }
}

PotentialCodelet::PotentialCodelet(std::string name, Codelet::Implementations implementations)
    : name_(std::move(name)), implementations_(implementations) {
  const std::lock_guard lock(potentials_mutex);
  potential_operations().push_back(this);
  choose();
}

void PotentialCodelet::choose() {
  const std::string name = with_potential_hash(name_);
  auto& made = potential_codelets();
  const auto found = std::ranges::find(made, name, &Codelet::name);
  current_ = found != made.end() ? &*found : &made.emplace_back(name, implementations_);
}

double Codelet::expected_microseconds(starpu_task* task, starpu_perfmodel_arch* arch,
                                      unsigned implementation) {
  // There is nothing to choose, and a long time would be held against the worker
  // (taken_workers.hpp).
  constexpr double kNothing = 1;
  if (is_placed(task)) return kNothing;
  return static_cast<const Codelet*>(task->callback_arg)
      ->history_.expected(*arch, implementation, footprint(task));
}

void Codelet::count(void* codelet) {
  TaskGaps::of_process().task_ended();
  const starpu_task* const task = starpu_task_get_current();
  if (task == nullptr) return;
  if (task->profiling_info == nullptr) return;
  starpu_profiling_task_info& info = *task->profiling_info;
  if (info.workerid < 0) return;
  const bool on_cpu = starpu_worker_get_type(info.workerid) == STARPU_CPU_WORKER;
  if (!on_cpu) device_task_ends(info.workerid);
  const unsigned implementation =
      on_cpu ? starpu_task_get_implementation(const_cast<starpu_task*>(task)) : 0;
  unsigned slot = on_cpu ? implementation : kOpenclSlot;
  auto* const self = static_cast<Codelet*>(codelet);
  // A codelet with one CPU implementation has the plain one.
  if (slot == kSimdSlot && self->codelet_.cpu_funcs[1] == nullptr) slot = kScalarSlot;
  auto& counter = self->statistics_.counters[slot][static_cast<std::size_t>(info.workerid)];
  const double seconds = starpu_timing_timespec_to_us(&info.end_time) * 1e-6 -
                         starpu_timing_timespec_to_us(&info.start_time) * 1e-6;
  counter.tasks.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t size = static_cast<const TaskArguments*>(task->cl_arg)->work_bucket;
  if (size < Durations::kBuckets) {
    self->statistics_.sizes[size].fetch_add(1, std::memory_order_relaxed);
  }
  counter.nanoseconds.fetch_add(static_cast<std::uint64_t>(std::max(0.0, seconds) * 1e9),
                                std::memory_order_relaxed);
  if (TaskListener::any()) {
    TaskListener::tell({self->index_, info.workerid, arguments_of_task(task).label,
                        starpu_timing_timespec_to_us(&info.submit_time) * 1e-6,
                        starpu_timing_timespec_to_us(&info.start_time) * 1e-6,
                        starpu_timing_timespec_to_us(&info.end_time) * 1e-6});
  }
  if (kSimulated || failed()) return;  // the task may have done nothing
  double microseconds = seconds * 1e6;
  if (!on_cpu) {
    microseconds = duration_on_device(
        info.workerid, microseconds,
        [&] { return self->history_.prior(info.workerid, implementation, size); },
        device_has_tasks(info.workerid));
  }
  if (std::isnan(microseconds)) return;
  self->history_.record(info.workerid, implementation, size, microseconds);
}

void report_failure(const std::string& what) noexcept {
  const std::lock_guard lock(failure_mutex);
  if (failure_reported) return;
  try {
    failure_text = what;
  } catch (...) {
    failure_text.clear();
  }
  failure_reported = true;
}

TaskFunction::TaskFunction() noexcept : device_worker_(device_worker_here()) {
  if (device_worker_ >= 0) device_task_begins(device_worker_);
}

TaskFunction::~TaskFunction() {
  if (device_worker_ >= 0) device_function_returns(device_worker_);
}

void finish_task_of_device() {
  if (const int worker = device_worker_here(); worker >= 0) finish_single_task(worker);
}

void report_task_failure(const std::string& what) noexcept {
  try {
    if (const int worker = device_worker_here(); worker >= 0) tell_device_failure(worker, what);
  } catch (...) {  // the task has failed all the same
  }
  report_failure(what);
}

bool failed() noexcept { return failure_reported; }

void throw_if_failed() {
  if (!failure_reported) return;
  const std::lock_guard lock(failure_mutex);
  throw RunError(failure_text);
}

void clear_failure() noexcept {
  const std::lock_guard lock(failure_mutex);
  failure_reported = false;
}

}  // namespace starpmc::codelets
