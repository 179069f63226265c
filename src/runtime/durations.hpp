#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>

/// How long tasks of one implementation take on one kind of worker, by amount of work.
namespace starpmc::codelets {

/// Work in steps of about 19 %: tasks in one bucket share a history.
std::uint32_t work_bucket(double work);
/// The work that a bucket stands for.
double bucket_work(std::uint32_t bucket);

/// May be read while another thread writes. A size is measured when it has samples enough for a
/// mean that can be relied on, and sampled when it has any.
class Durations {
 public:
  /// More work than 2^63 does not exist.
  static constexpr std::uint32_t kBuckets = 256;
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  /// As many samples as StarPU's own models want.
  static constexpr unsigned kEnough = 10;

  Durations() { clear(); }
  void clear();
  /// @param samples of which that is the mean
  void set(std::uint32_t bucket, double microseconds, unsigned samples = kEnough);
  bool measured(std::uint32_t bucket) const;

  /// Measured, or interpolated where a smaller and a larger size have been measured; otherwise NaN.
  double expected(std::uint32_t bucket) const;
  /// The same for any work: beyond the measured sizes the duration is in proportion to it. NaN
  /// where nothing has been measured.
  double estimate(double work) const;
  /// By the sampled sizes: beyond them durations are to each other as those of `shape`, and in
  /// proportion to the work where that knows none. What the others say of a sampled size counts as
  /// one more sample (the mean is geometric), since a single one may be far off. NaN where nothing
  /// has been sampled.
  double guess(std::uint32_t bucket, const std::function<double(double work)>& shape) const;
  /// Of the smallest sampled work, and of any smaller one: what a task costs for itself.
  double least() const;

 private:
  double at(std::uint32_t bucket) const {
    return microseconds_[bucket].load(std::memory_order_relaxed);
  }
  bool sampled(std::uint32_t bucket) const;
  double by_others(std::uint32_t bucket, const std::function<double(double work)>& shape) const;
  using Known = bool (Durations::*)(std::uint32_t) const;
  /// Nearest buckets of which that is true; kBuckets: none.
  std::uint32_t below(std::uint32_t bucket, Known known) const;
  std::uint32_t above(std::uint32_t bucket, Known known) const;
  double between(std::uint32_t low, std::uint32_t high, double work) const;

  std::array<std::atomic<double>, kBuckets> microseconds_;
  std::array<std::atomic<unsigned>, kBuckets> samples_;
};

}  // namespace starpmc::codelets
