#include "app/run_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/qm_forecast.hpp"

namespace starpmc {
namespace {

constexpr std::uint64_t kUsualInterval = 10000;  ///< steps, where qm.interval is auto

}  // namespace

RunForecast run_forecast(const Settings& settings, const SamplingTrial& trial,
                         const std::optional<QmForecast>& qm,
                         const std::optional<PreparationForecast>& preparation, unsigned chains,
                         unsigned cpu_workers) {
  const auto& sampling = settings.sampling;
  RunForecast forecast;
  const std::uint64_t steps = sampling.steps + sampling.equilibration_steps.value_or(0);
  forecast.sampling_seconds =
      static_cast<double>(chains) * static_cast<double>(steps) / trial.steps_per_second;
  if (preparation) forecast.preparation_seconds = preparation->seconds();
  if (!qm) return forecast;
  const std::uint64_t interval = settings.qm.interval == 0 ? kUsualInterval : settings.qm.interval;
  forecast.updates = updates_of_chain(settings, interval);
  // Chains that have no core for their update wait for one.
  const double at_once = std::max(1U, std::min(chains, cpu_workers));
  const double turns = static_cast<double>(chains) / at_once;
  forecast.qm_seconds =
      turns * (qm->first_seconds + static_cast<double>(forecast.updates) * qm->update_seconds);
  return forecast;
}

std::string describe(const RunForecast& forecast, const Settings& settings,
                     const SamplingTrial& trial) {
  std::string text = fmt::format(
      "about {}: {} of sampling ({:.3g} steps/s of all chains, as tried)",
      duration(forecast.seconds()), duration(forecast.sampling_seconds), trial.steps_per_second);
  if (forecast.preparation_seconds > 0) {
    text += fmt::format(", {} of the reference", duration(forecast.preparation_seconds));
  }
  if (forecast.updates > 0) {
    text += fmt::format(
        ", {} of QM ({} updates a chain{})", duration(forecast.qm_seconds), forecast.updates,
        settings.qm.interval == 0 ? fmt::format(", if it is one every {} steps", kUsualInterval)
                                  : "");
  }
  if (!settings.sampling.equilibration_steps) text += "; with equilibration at most twice that";
  return text;
}

}  // namespace starpmc
