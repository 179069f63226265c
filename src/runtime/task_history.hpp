#pragma once

#include <starpu.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// How long tasks take, by amount of work: StarPU's histories, and what they say of other sizes.
namespace starpmc::codelets {

/// Work in steps of about 19 %: tasks in one bucket share a history.
std::uint32_t work_bucket(double work);
/// The work that a bucket stands for.
double bucket_work(std::uint32_t bucket);

/// Durations of one implementation on one kind of worker. May be read while another thread writes.
class Durations {
 public:
  /// More work than 2^63 does not exist.
  static constexpr std::uint32_t kBuckets = 256;

  Durations() { clear(); }
  void clear();
  void set(std::uint32_t bucket, double microseconds);
  bool measured(std::uint32_t bucket) const;
  /// Measured, or interpolated where a smaller and a larger size have been measured, or in
  /// proportion to the work up to `beyond` buckets above the largest; otherwise NaN.
  double expected(std::uint32_t bucket, std::uint32_t beyond) const;
  /// In proportion to the work, below the smallest measured size: what a task costs for itself
  /// comes on top. Otherwise NaN.
  double least(std::uint32_t bucket) const;
  /// The same as expected() for any size: beyond the measured ones the duration is in proportion to
  /// the work. NaN where nothing has been measured.
  double estimate(double work) const;

 private:
  double at(std::uint32_t bucket) const {
    return microseconds_[bucket].load(std::memory_order_relaxed);
  }
  /// Nearest measured buckets; kBuckets: none.
  std::uint32_t below(std::uint32_t bucket) const;
  std::uint32_t above(std::uint32_t bucket) const;
  double between(std::uint32_t low, std::uint32_t high, double work) const;

  std::array<std::atomic<double>, kBuckets> microseconds_;
};

/// A codelet's history on all kinds of workers, read from and written to StarPU's model of that
/// name. StarPU's own history-based model knows nothing of a size that differs by one bucket from
/// those it has seen, and has each implementation run it some ten times on each kind of worker. Its
/// regression takes the place of the history within the range of sizes, known ones included, and
/// is one power law for microseconds and seconds. So the codelets' model is a cost function that
/// asks here.
class TaskHistory {
 public:
  static TaskHistory& of(const std::string& symbol);
  /// Before StarPU ends: its next start reads the files again.
  static void forget_all();

  TaskHistory(const TaskHistory&) = delete;
  TaskHistory& operator=(const TaskHistory&) = delete;

  /// Microseconds; NaN makes StarPU try, which is not done where another kind of worker is known to
  /// be ten times as fast as this one could be. With STARPU_CALIBRATE set, sizes are measured
  /// themselves.
  double expected(const starpu_perfmodel_arch& arch, unsigned implementation, std::uint32_t bucket);
  /// Microseconds, for any size; NaN where nothing has been measured.
  double estimate(int worker, unsigned implementation, double work);
  /// Microseconds, for a size that has been measured or lies between such; otherwise NaN.
  double interpolate(int worker, unsigned implementation, double work);
  /// Keeps a task's duration while its size has few.
  void record(int worker, unsigned implementation, std::uint32_t bucket, double microseconds);

 private:
  static constexpr unsigned kImplementations = 2;
  struct ArchDurations {
    starpu_perfmodel_arch* arch;
    std::uint32_t beyond;  ///< buckets to which the largest measured duration is extrapolated
    std::array<Durations, kImplementations> implementations;
    /// Whether a size has samples enough.
    std::array<std::array<std::atomic<bool>, Durations::kBuckets>, kImplementations> complete{};
  };

  explicit TaskHistory(std::string symbol);
  void load();
  void read_samples(ArchDurations& durations, unsigned implementation);
  ArchDurations* find(const starpu_perfmodel_arch& arch);
  /// Of all kinds of workers and implementations; infinite where none is known.
  double quickest(std::uint32_t bucket) const;

  std::string symbol_;
  starpu_perfmodel model_{};
  std::mutex mutex_;
  std::atomic<bool> loaded_{false};
  bool calibrate_ = false;
  unsigned least_samples_ = 10;
  std::vector<std::unique_ptr<ArchDurations>> archs_;
};

}  // namespace starpmc::codelets
