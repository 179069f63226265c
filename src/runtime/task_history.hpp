#pragma once

#include <starpu.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/durations.hpp"
#include "runtime/task_prior.hpp"

/// How long tasks take, by amount of work: StarPU's histories, and what they say of other sizes.
namespace starpmc::codelets {

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

  /// Microseconds. A size that has not been measured is expected to take what the nearest sizes, or
  /// else the worker's speed, say; so it is tried where that is worth it, and the less certain it
  /// is and the longer it has not been tried, the more. NaN, which makes StarPU try, where nothing
  /// is known; with STARPU_CALIBRATE set, of each size that has not been measured.
  double expected(const starpu_perfmodel_arch& arch, unsigned implementation, std::uint32_t bucket);
  /// Microseconds, for any size: by the sizes measured, or by the worker's speed; NaN where neither
  /// is known.
  double estimate(int worker, unsigned implementation, double work);
  /// Microseconds, for a size that has been measured or lies between such; otherwise NaN.
  double interpolate(int worker, unsigned implementation, double work);
  /// Microseconds, by the worker's speed alone; NaN where that or the operation is not known.
  double prior(int worker, unsigned implementation, std::uint32_t bucket) const;
  /// Keeps a task's duration while its size has few; later of one in sixteen, and of long ones.
  void record(int worker, unsigned implementation, std::uint32_t bucket, double microseconds);

 private:
  static constexpr unsigned kImplementations = 2;
  struct ArchDurations {
    starpu_perfmodel_arch* arch;
    std::array<Durations, kImplementations> implementations;
    /// Whether a size has samples enough.
    std::array<std::array<std::atomic<bool>, Durations::kBuckets>, kImplementations> complete{};
    /// Tasks of the size on all workers, when it was last run here.
    std::array<std::array<std::atomic<std::uint32_t>, Durations::kBuckets>, kImplementations>
        last_try{};
    /// That have been run here, of each size.
    std::array<std::array<std::atomic<std::uint32_t>, Durations::kBuckets>, kImplementations>
        tasks{};
    /// Made so far, of sizes that are not measured; NaN: none.
    std::array<std::array<std::atomic<double>, Durations::kBuckets>, kImplementations> guesses{};

    void forget_guesses(unsigned implementation) {
      for (auto& guess : guesses[implementation]) {
        guess.store(std::numeric_limits<double>::quiet_NaN(), std::memory_order_relaxed);
      }
    }
  };

  explicit TaskHistory(std::string symbol);
  void load();
  void read_samples(ArchDurations& durations, unsigned implementation);
  /// As many are enough as the user says (STARPU_CALIBRATE_MINIMUM).
  unsigned believed(unsigned samples) const;
  ArchDurations* find(const starpu_perfmodel_arch& arch) const;
  double known_guess(ArchDurations& durations, unsigned implementation, std::uint32_t bucket) const;
  double guess(const ArchDurations& durations, unsigned implementation, std::uint32_t bucket) const;
  double prior_duration(const starpu_perfmodel_arch& arch, unsigned implementation,
                        double work) const;

  std::string symbol_;
  TaskPrior prior_;
  starpu_perfmodel model_{};
  std::mutex mutex_;
  std::atomic<bool> loaded_{false};
  bool calibrate_ = false;
  unsigned least_samples_ = 10;
  std::vector<std::unique_ptr<ArchDurations>> archs_;
  std::array<std::atomic<std::uint32_t>, Durations::kBuckets> tasks_{};  ///< of each size, so far
};

}  // namespace starpmc::codelets
