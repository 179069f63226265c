#include "runtime/durations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace starpmc::codelets {
namespace {}  // namespace

std::uint32_t work_bucket(double work) {
  return static_cast<std::uint32_t>(std::lround(4 * std::log2(std::max(work, 1.0)))) + 1;
}

double bucket_work(std::uint32_t bucket) {
  return std::exp2((static_cast<double>(bucket) - 1) / 4);
}

void Durations::clear() {
  for (auto& microseconds : microseconds_) microseconds.store(kUnknown, std::memory_order_relaxed);
  for (auto& samples : samples_) samples.store(0, std::memory_order_relaxed);
}

void Durations::set(std::uint32_t bucket, double microseconds, unsigned samples) {
  if (bucket >= kBuckets) return;
  microseconds_[bucket].store(microseconds, std::memory_order_relaxed);
  samples_[bucket].store(std::isnan(microseconds) ? 0 : samples, std::memory_order_relaxed);
}

bool Durations::measured(std::uint32_t bucket) const {
  return bucket < kBuckets && samples_[bucket].load(std::memory_order_relaxed) >= kEnough;
}

bool Durations::sampled(std::uint32_t bucket) const {
  return bucket < kBuckets && samples_[bucket].load(std::memory_order_relaxed) > 0;
}

std::uint32_t Durations::below(std::uint32_t bucket, Known known) const {
  for (std::uint32_t b = std::min(bucket, kBuckets); b-- > 0;) {
    if ((this->*known)(b)) return b;
  }
  return kBuckets;
}

std::uint32_t Durations::above(std::uint32_t bucket, Known known) const {
  for (std::uint32_t b = bucket + 1; b < kBuckets; ++b) {
    if ((this->*known)(b)) return b;
  }
  return kBuckets;
}

/// A task costs so much for itself and so much for each unit of work: a straight line.
double Durations::between(std::uint32_t low, std::uint32_t high, double work) const {
  const double share =
      (work - bucket_work(low)) / std::max(bucket_work(high) - bucket_work(low), 1e-300);
  return at(low) + std::clamp(share, 0.0, 1.0) * (at(high) - at(low));
}

double Durations::expected(std::uint32_t bucket) const {
  if (measured(bucket)) return at(bucket);
  const std::uint32_t low = below(bucket, &Durations::measured);
  const std::uint32_t high = above(bucket, &Durations::measured);
  if (low == kBuckets || high == kBuckets) return kUnknown;
  return between(low, high, bucket_work(bucket));
}

double Durations::estimate(double work) const {
  const std::uint32_t bucket = work_bucket(work);
  if (measured(bucket)) return at(bucket);
  const std::uint32_t low = below(bucket, &Durations::measured);
  const std::uint32_t high = above(bucket, &Durations::measured);
  if (low != kBuckets && high != kBuckets) return between(low, high, work);
  const std::uint32_t nearest = low != kBuckets ? low : high;
  return nearest == kBuckets ? kUnknown : at(nearest) * (work / bucket_work(nearest));
}

double Durations::guess(std::uint32_t bucket,
                        const std::function<double(double work)>& shape) const {
  const double others = by_others(bucket, shape);
  if (!sampled(bucket)) return others;
  if (measured(bucket) || std::isnan(others)) return at(bucket);
  const double samples = samples_[bucket].load(std::memory_order_relaxed);
  return std::exp((samples * std::log(at(bucket)) + std::log(others)) / (samples + 1));
}

double Durations::by_others(std::uint32_t bucket,
                            const std::function<double(double work)>& shape) const {
  const std::uint32_t low = below(bucket, &Durations::sampled);
  const std::uint32_t high = above(bucket, &Durations::sampled);
  const double work = bucket_work(bucket);
  if (low != kBuckets && high != kBuckets) return between(low, high, work);
  const std::uint32_t nearest = low != kBuckets ? low : high;
  if (nearest == kBuckets) return kUnknown;
  const double ratio = shape(work) / shape(bucket_work(nearest));
  return at(nearest) * (std::isnan(ratio) ? work / bucket_work(nearest) : ratio);
}

double Durations::least() const {
  const std::uint32_t smallest = sampled(0) ? 0 : above(0, &Durations::sampled);
  return smallest == kBuckets ? kUnknown : at(smallest);
}

}  // namespace starpmc::codelets
