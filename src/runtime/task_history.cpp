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

/// How much faster than the speed of a worker says its tasks may be: so much is it worth a try.
constexpr double kDoubt = 3;
/// Of the time that tasks of a size take, what may be spent on trying how long they take elsewhere.
constexpr double kShareOfTries = 0.01;
/// A mean of so many is not made better by more.
constexpr unsigned kMostSamples = 100;
/// Of tasks whose size has so many, those that are kept all the same: one of so many, and those
/// beside which keeping them is nothing. Else what the first tasks took, while libraries were
/// compiled, would stay. StarPU forgets a mean when as many samples as it is made of have been off
/// by half.
constexpr std::uint32_t kOneOf = 16;
constexpr double kAlwaysMicroseconds = 10'000;

int environment_number(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : std::atoi(value);
}

std::size_t size_base(starpu_task* task, unsigned /*implementation*/) {
  return static_cast<std::size_t>(bucket_work(footprint(task)));
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

std::mutex histories_mutex;
std::map<std::string, std::unique_ptr<TaskHistory>>& all_histories() {
  static std::map<std::string, std::unique_ptr<TaskHistory>> histories;
  return histories;
}

}  // namespace

TaskHistory& TaskHistory::of(const std::string& symbol) {
  const std::lock_guard lock(histories_mutex);
  auto& history = all_histories()[symbol];
  if (history == nullptr) history.reset(new TaskHistory(symbol));
  return *history;
}

void TaskHistory::forget_all() {
  const std::lock_guard lock(histories_mutex);
  for (auto& [symbol, history] : all_histories()) history->loaded_ = false;
}

TaskHistory::TaskHistory(std::string symbol)
    : symbol_(std::move(symbol)), prior_(task_prior(symbol_)) {
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
  for (auto& tasks : tasks_) tasks = 0;
  for (unsigned worker = 0; worker < starpu_worker_get_count(); ++worker) {
    starpu_perfmodel_arch* const arch = arch_of(static_cast<int>(worker));
    if (find(*arch) != nullptr) continue;
    archs_.push_back(std::make_unique<ArchDurations>());
    archs_.back()->arch = arch;
    for (unsigned i = 0; i < kImplementations; ++i) archs_.back()->forget_guesses(i);
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
    const bool any = entry.nsample > 0 && entry.mean > 0;
    durations.implementations[implementation].set(
        entry.footprint, any ? entry.mean : Durations::kUnknown, believed(entry.nsample));
    durations.complete[implementation][entry.footprint] = entry.nsample >= kMostSamples;
  }
  durations.forget_guesses(implementation);
}

unsigned TaskHistory::believed(unsigned samples) const {
  return samples >= least_samples_ ? Durations::kEnough : std::min(samples, Durations::kEnough - 1);
}

TaskHistory::ArchDurations* TaskHistory::find(const starpu_perfmodel_arch& arch) const {
  for (const auto& known : archs_) {
    if (same_arch(*known->arch, arch)) return known.get();
  }
  return nullptr;
}

double TaskHistory::expected(const starpu_perfmodel_arch& arch, unsigned implementation,
                             std::uint32_t bucket) {
  load();
  ArchDurations* const durations = find(arch);
  if (durations == nullptr || implementation >= kImplementations || bucket >= Durations::kBuckets) {
    return Durations::kUnknown;
  }
  const Durations& known = durations->implementations[implementation];
  if (calibrate_) return known.measured(bucket) ? known.expected(bucket) : Durations::kUnknown;
  const double expected = known.expected(bucket);
  if (!std::isnan(expected)) return expected;
  // Whatever is not certain becomes worth a try when so many tasks have gone elsewhere that trying
  // costs little beside them.
  const std::uint32_t last_try = durations->last_try[implementation][bucket].load();
  const std::uint32_t elsewhere = tasks_[bucket].load() - last_try;  // in this order: not below 0
  return known_guess(*durations, implementation, bucket) / (1 + kShareOfTries * elsewhere);
}

/// A scheduler asks it of each worker for each task.
double TaskHistory::known_guess(ArchDurations& durations, unsigned implementation,
                                std::uint32_t bucket) const {
  std::atomic<double>& kept = durations.guesses[implementation][bucket];
  double known = kept.load(std::memory_order_relaxed);
  if (std::isnan(known)) {
    known = guess(durations, implementation, bucket);
    kept.store(known, std::memory_order_relaxed);
  }
  return known;
}

/// By few samples, or by those of other sizes, or by the worker's speed.
double TaskHistory::guess(const ArchDurations& durations, unsigned implementation,
                          std::uint32_t bucket) const {
  const auto prior = [&](double work) {
    return prior_duration(*durations.arch, implementation, work);
  };
  const double guess = durations.implementations[implementation].guess(bucket, prior);
  return std::isnan(guess) ? prior(bucket_work(bucket)) / kDoubt : guess;
}

double TaskHistory::prior_duration(const starpu_perfmodel_arch& arch, unsigned implementation,
                                   double work) const {
  if (prior_.pair_model.empty()) return Durations::kUnknown;
  TaskHistory& pairs = of(prior_.pair_model);
  pairs.load();
  const ArchDurations* const durations = pairs.find(arch);
  if (durations == nullptr) return Durations::kUnknown;
  const Durations& known = durations->implementations[implementation];
  const auto in_proportion = [](double amount) { return amount; };
  return std::max(known.least(), known.guess(work_bucket(work * prior_.pairs), in_proportion));
}

double TaskHistory::prior(int worker, unsigned implementation, std::uint32_t bucket) const {
  return prior_duration(*arch_of(worker), implementation, bucket_work(bucket));
}

double TaskHistory::estimate(int worker, unsigned implementation, double work) {
  load();
  const ArchDurations* const durations = find(*arch_of(worker));
  if (durations == nullptr || implementation >= kImplementations) return Durations::kUnknown;
  const Durations& known = durations->implementations[implementation];
  const double estimate = known.estimate(work);
  if (!std::isnan(estimate)) return estimate;
  const auto prior = [&](double amount) {
    return prior_duration(*durations->arch, implementation, amount);
  };
  const double guess = known.guess(work_bucket(work), prior);
  return std::isnan(guess) ? prior(work) : guess;
}

double TaskHistory::interpolate(int worker, unsigned implementation, double work) {
  load();
  const ArchDurations* const durations = find(*arch_of(worker));
  if (durations == nullptr || implementation >= kImplementations) return Durations::kUnknown;
  return durations->implementations[implementation].expected(work_bucket(work));
}

void TaskHistory::record(int worker, unsigned implementation, std::uint32_t bucket,
                         double microseconds) {
  load();
  ArchDurations* const durations = find(*arch_of(worker));
  if (durations == nullptr || implementation >= kImplementations || bucket >= Durations::kBuckets ||
      microseconds <= 0) {
    return;
  }
  durations->last_try[implementation][bucket] = ++tasks_[bucket];
  const std::uint32_t number = ++durations->tasks[implementation][bucket];
  const bool complete =
      durations->complete[implementation][bucket].load(std::memory_order_relaxed) && !calibrate_;
  if (complete && microseconds < kAlwaysMicroseconds && number % kOneOf != 0) return;
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
