#include "runtime/task_history.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>

#include "runtime/codelet.hpp"

namespace starpmc::codelets {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// Buckets above the largest measured one whose duration follows from it. A CPU core takes 16 times
/// as long for 16 times the work, and would take long to show it. A device may not be full yet; but
/// the candidates of a window differ from one window to the next by a bucket or two.
constexpr std::uint32_t kBeyondOnCpu = 16;
constexpr std::uint32_t kBeyondOnDevice = 2;
/// Times as long as elsewhere at the least: a CPU core would take seconds to show that a device
/// does the same in milliseconds.
constexpr double kNotWorthATry = 10;
/// A mean of so many is not made better by more.
constexpr unsigned kMostSamples = 100;

int environment_number(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : std::atoi(value);
}

const TaskArguments& task_arguments(const starpu_task* task) {
  return *static_cast<const TaskArguments*>(task->cl_arg);
}
std::uint32_t footprint(starpu_task* task) { return task_arguments(task).work_bucket; }
std::size_t size_base(starpu_task* task, unsigned /*implementation*/) {
  return static_cast<std::size_t>(bucket_work(task_arguments(task).work_bucket));
}

bool same_arch(const starpu_perfmodel_arch& a, const starpu_perfmodel_arch& b) {
  return a.ndevices == b.ndevices &&
         std::equal(a.devices, a.devices + a.ndevices, b.devices, [](const auto& x, const auto& y) {
           return x.type == y.type && x.devid == y.devid && x.ncores == y.ncores;
         });
}

starpu_perfmodel_arch* arch_of(int worker) {
  return starpu_worker_get_perf_archtype(worker, STARPU_NMAX_SCHED_CTXS);
}

std::mutex registry_mutex;
std::map<std::string, std::unique_ptr<TaskHistory>>& registry() {
  static std::map<std::string, std::unique_ptr<TaskHistory>> histories;
  return histories;
}

}  // namespace

std::uint32_t work_bucket(double work) {
  return static_cast<std::uint32_t>(std::lround(4 * std::log2(std::max(work, 1.0)))) + 1;
}

double bucket_work(std::uint32_t bucket) {
  return std::exp2((static_cast<double>(bucket) - 1) / 4);
}

void Durations::clear() {
  for (auto& microseconds : microseconds_) microseconds.store(kUnknown, std::memory_order_relaxed);
}

void Durations::set(std::uint32_t bucket, double microseconds) {
  if (bucket < kBuckets) microseconds_[bucket].store(microseconds, std::memory_order_relaxed);
}

bool Durations::measured(std::uint32_t bucket) const {
  return bucket < kBuckets && !std::isnan(at(bucket));
}

std::uint32_t Durations::below(std::uint32_t bucket) const {
  for (std::uint32_t b = std::min(bucket, kBuckets); b-- > 0;) {
    if (measured(b)) return b;
  }
  return kBuckets;
}

std::uint32_t Durations::above(std::uint32_t bucket) const {
  for (std::uint32_t b = bucket + 1; b < kBuckets; ++b) {
    if (measured(b)) return b;
  }
  return kBuckets;
}

/// A task costs so much for itself and so much for each unit of work: a straight line.
double Durations::between(std::uint32_t low, std::uint32_t high, double work) const {
  const double share =
      (work - bucket_work(low)) / std::max(bucket_work(high) - bucket_work(low), 1e-300);
  return at(low) + std::clamp(share, 0.0, 1.0) * (at(high) - at(low));
}

double Durations::expected(std::uint32_t bucket, std::uint32_t beyond) const {
  if (measured(bucket)) return at(bucket);
  const std::uint32_t low = below(bucket);
  const std::uint32_t high = above(bucket);
  if (low == kBuckets || (high == kBuckets && bucket - low > beyond)) return kUnknown;
  return estimate(bucket_work(bucket));
}

double Durations::least(std::uint32_t bucket) const {
  const bool is_below_all = !measured(bucket) && below(bucket) == kBuckets;
  return is_below_all ? estimate(bucket_work(bucket)) : kUnknown;
}

double Durations::estimate(double work) const {
  const std::uint32_t bucket = work_bucket(work);
  if (measured(bucket)) return at(bucket);
  const std::uint32_t low = below(bucket);
  const std::uint32_t high = above(bucket);
  if (low != kBuckets && high != kBuckets) return between(low, high, work);
  const std::uint32_t nearest = low != kBuckets ? low : high;
  return nearest == kBuckets ? kUnknown : at(nearest) * (work / bucket_work(nearest));
}

TaskHistory& TaskHistory::of(const std::string& symbol) {
  const std::lock_guard lock(registry_mutex);
  auto& history = registry()[symbol];
  if (history == nullptr) history.reset(new TaskHistory(symbol));
  return *history;
}

void TaskHistory::forget_all() {
  const std::lock_guard lock(registry_mutex);
  for (auto& [symbol, history] : registry()) history->loaded_ = false;
}

TaskHistory::TaskHistory(std::string symbol) : symbol_(std::move(symbol)) {
  model_.type = STARPU_HISTORY_BASED;
  model_.footprint = footprint;
  model_.size_base = size_base;
}

void TaskHistory::load() {
  if (loaded_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (loaded_.load(std::memory_order_relaxed)) return;
  const int calibrate = environment_number("STARPU_CALIBRATE", 0);
  calibrate_ = calibrate > 0;
  least_samples_ =
      static_cast<unsigned>(std::max(1, environment_number("STARPU_CALIBRATE_MINIMUM", 10)));
  char path[1024] = "";
  if (calibrate != 2) starpu_perfmodel_get_model_path(symbol_.c_str(), path, sizeof path);
  model_.symbol = nullptr;  // StarPU frees it where a file is damaged
  // StarPU 1.3 names files that are not there, and ends the program over them.
  std::error_code none;
  const bool read = std::filesystem::is_regular_file(path, none) &&
                    starpu_perfmodel_load_file(path, &model_) == 0;
  model_.symbol = symbol_.c_str();
  archs_.clear();
  for (unsigned worker = 0; worker < starpu_worker_get_count(); ++worker) {
    starpu_perfmodel_arch* const arch = arch_of(static_cast<int>(worker));
    if (find(*arch) != nullptr) continue;
    archs_.push_back(std::make_unique<ArchDurations>());
    archs_.back()->arch = arch;
    archs_.back()->beyond =
        arch->devices[0].type == STARPU_CPU_WORKER ? kBeyondOnCpu : kBeyondOnDevice;
    for (unsigned i = 0; read && i < kImplementations; ++i) read_samples(*archs_.back(), i);
  }
  loaded_.store(true, std::memory_order_release);
}

/// What StarPU holds of one kind of worker.
void TaskHistory::read_samples(ArchDurations& durations, unsigned implementation) {
  const starpu_perfmodel_per_arch* const model =
      starpu_perfmodel_get_model_per_arch(&model_, durations.arch, implementation);
  if (model == nullptr) return;
  for (const auto* item = model->list; item != nullptr; item = item->next) {
    const starpu_perfmodel_history_entry& entry = *item->entry;
    if (entry.footprint >= Durations::kBuckets) continue;
    const bool enough = entry.nsample >= least_samples_ && entry.mean > 0;
    durations.implementations[implementation].set(entry.footprint, enough ? entry.mean : kUnknown);
    durations.complete[implementation][entry.footprint] = entry.nsample >= kMostSamples;
  }
}

TaskHistory::ArchDurations* TaskHistory::find(const starpu_perfmodel_arch& arch) {
  for (const auto& known : archs_) {
    if (same_arch(*known->arch, arch)) return known.get();
  }
  return nullptr;
}

double TaskHistory::expected(const starpu_perfmodel_arch& arch, unsigned implementation,
                             std::uint32_t bucket) {
  load();
  const ArchDurations* const durations = find(arch);
  if (durations == nullptr || implementation >= kImplementations) return kUnknown;
  const Durations& known = durations->implementations[implementation];
  if (calibrate_) return known.measured(bucket) ? known.expected(bucket, 0) : kUnknown;
  const double expected = known.expected(bucket, durations->beyond);
  if (!std::isnan(expected)) return expected;
  const double least = known.least(bucket);
  return least > kNotWorthATry * quickest(bucket) ? least : kUnknown;
}

double TaskHistory::quickest(std::uint32_t bucket) const {
  double result = HUGE_VAL;
  for (const auto& durations : archs_) {
    for (const Durations& known : durations->implementations) {
      result = std::fmin(result, known.expected(bucket, durations->beyond));
    }
  }
  return result;
}

double TaskHistory::estimate(int worker, unsigned implementation, double work) {
  load();
  const ArchDurations* const durations = find(*arch_of(worker));
  if (durations == nullptr || implementation >= kImplementations) return kUnknown;
  return durations->implementations[implementation].estimate(work);
}

double TaskHistory::interpolate(int worker, unsigned implementation, double work) {
  load();
  const ArchDurations* const durations = find(*arch_of(worker));
  if (durations == nullptr || implementation >= kImplementations) return kUnknown;
  return durations->implementations[implementation].expected(work_bucket(work), 0);
}

void TaskHistory::record(int worker, unsigned implementation, std::uint32_t bucket,
                         double microseconds) {
  load();
  ArchDurations* const durations = find(*arch_of(worker));
  if (durations == nullptr || implementation >= kImplementations || bucket >= Durations::kBuckets ||
      microseconds <= 0 ||
      (durations->complete[implementation][bucket].load(std::memory_order_relaxed) &&
       !calibrate_)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (model_.is_init == 0) {
    starpu_perfmodel_init(&model_);
    model_.is_loaded = 1;  // there is no file, or STARPU_CALIBRATE=2 says to leave it
  }
  // StarPU keys a measurement by a task: one that has nothing but its amount of work.
  TaskArguments arguments{bucket};
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  starpu_task task;
  starpu_task_init(&task);
  task.cl = &codelet;
  task.cl_arg = &arguments;
  task.cl_arg_size = sizeof arguments;
  starpu_perfmodel_update_history(&model_, &task, durations->arch,
                                  static_cast<unsigned>(starpu_worker_get_devid(worker)),
                                  implementation, microseconds);
  starpu_task_clean(&task);
  read_samples(*durations, implementation);
}

}  // namespace starpmc::codelets
