#include "app/update_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/constants.hpp"

namespace starpmc {
namespace {

constexpr std::uint64_t kShortest = 250;
constexpr std::uint64_t kLongest = 64000;
constexpr std::uint64_t kLongestFirst = 4000;
constexpr std::uint64_t kFirstOfUnknownEquilibration = 1000;
/// Updates that equilibration has about, if no interval changes.
constexpr std::uint64_t kUpdatesOfEquilibration = 32;
constexpr double kRounding = 50;  ///< steps, of the interval of production

}  // namespace

UpdateSchedule::UpdateSchedule(std::uint64_t interval,
                               std::optional<std::uint64_t> equilibration_steps,
                               double temperature_kelvin)
    : fixed_interval_(interval),
      first_interval_(
          equilibration_steps
              ? std::clamp(*equilibration_steps / kUpdatesOfEquilibration, kShortest, kLongestFirst)
              : kFirstOfUnknownEquilibration),
      equilibration_steps_(equilibration_steps.value_or(std::numeric_limits<std::uint64_t>::max())),
      kt_(kGasConstant * temperature_kelvin) {}

std::uint64_t UpdateSchedule::interval(std::span<const QmUpdateRecord> updates) const {
  if (!automatic()) return fixed_interval_;
  std::uint64_t interval = first_interval_;
  double logarithms = 0;
  double count = 0;
  for (std::size_t i = 1; i < updates.size(); ++i) {
    const QmUpdateRecord& update = updates[i];
    // The interval before the beginning of production is cut short.
    if (update.step >= equilibration_steps_) break;
    const double gain = -update.jump_kj_per_mol;
    if (gain > kt_) {
      interval = std::max(kShortest, interval / 2);
    } else if (gain < kt_ / 4) {
      interval = std::min(kLongest, 2 * interval);
    }
    if (update.step >= equilibration_steps_ / 2) {
      logarithms += std::log(static_cast<double>(interval));
      ++count;
    }
  }
  const bool production = !updates.empty() && updates.back().step >= equilibration_steps_;
  if (!production || count == 0) return interval;
  return static_cast<std::uint64_t>(kRounding *
                                    std::round(std::exp(logarithms / count) / kRounding));
}

std::uint64_t UpdateSchedule::next(std::span<const QmUpdateRecord> updates) const {
  if (updates.empty()) return 0;
  const std::uint64_t last = updates.back().step;
  const std::uint64_t next = last + interval(updates);
  return automatic() && last < equilibration_steps_ ? std::min(next, equilibration_steps_) : next;
}

}  // namespace starpmc
