#include "app/qm_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/chain_count.hpp"

namespace starpmc {
namespace {

/// One significant digit.
double rounded(double value) {
  if (!(value > 0)) return 0;
  const double unit = std::pow(10, std::floor(std::log10(value)));
  return std::round(value / unit) * unit;
}

unsigned workers_at_least(const Settings& settings) {
  return qm_workers(settings.qm, std::max(1U, settings.sampling.chains));  // 0: auto
}

}  // namespace

std::string duration(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  constexpr double kDay = 86400;
  if (seconds < 1.5 * kMinute) return fmt::format("{:g} s", rounded(seconds));
  if (seconds < 1.5 * kHour) return fmt::format("{:g} min", rounded(seconds / kMinute));
  if (seconds < 1.5 * kDay) return fmt::format("{:g} h", rounded(seconds / kHour));
  return fmt::format("{:g} days", rounded(seconds / kDay));
}

std::uint64_t updates_of_chain(const Settings& settings, std::uint64_t interval) {
  const auto& sampling = settings.sampling;
  const std::uint64_t steps = sampling.equilibration_steps.value_or(0) + sampling.steps;
  return std::max<std::uint64_t>(1, (steps + interval - 1) / interval);
}

std::string describe(const QmForecast& forecast, const Settings& settings) {
  std::string text = fmt::format(
      "the QM molecule has {} basis functions: about {} until the first update, {} an update and "
      "{:g} GB for each QM worker (estimates, good to a factor of three)",
      forecast.basis_functions, duration(forecast.first_seconds), duration(forecast.update_seconds),
      rounded(forecast.memory_mb / 1024));
  if (settings.qm.interval == 0) return text;  // auto: not known yet
  const std::uint64_t updates = updates_of_chain(settings, settings.qm.interval);
  return text +
         fmt::format("; {} updates a chain{}: {}", updates,
                     settings.sampling.equilibration_steps ? "" : " and those of equilibration",
                     duration(static_cast<double>(updates) * forecast.update_seconds));
}

bool is_large(const QmForecast& forecast, const Settings& settings, double free_memory_mb) {
  constexpr double kLongUpdateSeconds = 60;
  return forecast.update_seconds > kLongUpdateSeconds ||
         forecast.memory_mb * workers_at_least(settings) > free_memory_mb;
}

std::string why_unrepeatable(const Settings& settings) {
  return fmt::format(
      "with qm.threads = {} the QM program adds up in the order in which its threads end: the same "
      "run made again differs in the last digits of its energies and, after many steps, in its "
      "trajectory; qm.threads = 1 repeats a run to the bit, as do pure functionals of closed "
      "shells "
      "with qm.density-fitting = true",
      settings.qm.threads);
}

}  // namespace starpmc
